/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages of lgv: values under the pointer and zoom in figures, and players that move a cloud of points along time.
 * Without this script a page has everything but that.
 *
 * A figure is an inline SVG; data-axes has its frame in pixels (left right top bottom), the values there
 * (x0 x1 y0 y1) and whether an axis is logarithmic.  A player has its numbers as 16-bit integers in base64. */
(function () {
  'use strict';

  function short(x) {
    return x === 0 ? '0' : String(Number(x.toPrecision(5)));
  }

  /* ---- figures ---- */

  /* Corners of all curves and places of all markers, in the coordinates of the figure. */
  function vertices(svg) {
    var list = [], match, number = /(-?[\d.]+),(-?[\d.]+)/g;
    svg.querySelectorAll('g[id*="gnuplot_plot"] path').forEach(function (path) {
      if (path.closest('defs') || !/^[MLZz\d\s.,-]*$/.test(path.getAttribute('d'))) return;
      while ((match = number.exec(path.getAttribute('d')))) list.push([+match[1], +match[2]]);
    });
    svg.querySelectorAll('g[id*="gnuplot_plot"] use').forEach(function (use) {
      match = /translate\((-?[\d.]+),(-?[\d.]+)\)/.exec(use.getAttribute('transform') || '');
      if (match) list.push([+match[1], +match[2]]);
    });
    return list;
  }

  function value(at, from, to, low, high, log) {
    var part = (at - from) / (to - from);
    return log ? low * Math.pow(high / low, part) : low + part * (high - low);
  }

  function figure(svg) {
    var frame = svg.dataset.axes.split(' ').map(Number), points = null, whole = svg.getAttribute('viewBox');
    var readout = document.createElement('div'), start = null, box = null;
    readout.className = 'readout';
    readout.hidden = true;
    svg.parentNode.appendChild(readout);

    function place(event) {
      var m = svg.getScreenCTM();
      return m ? new DOMPoint(event.clientX, event.clientY).matrixTransform(m.inverse()) : null;
    }
    function inside(p) {
      return p && p.x >= frame[0] && p.x <= frame[1] && p.y >= frame[2] && p.y <= frame[3];
    }
    function nearest(p) {
      var best = 14, found = null;
      points = points || vertices(svg);
      points.forEach(function (v) {
        var d = Math.hypot(v[0] - p.x, v[1] - p.y);
        if (d < best && v[0] >= frame[0] && v[0] <= frame[1] && v[1] >= frame[2] && v[1] <= frame[3]) {
          best = d;
          found = v;
        }
      });
      return found || [p.x, p.y];
    }
    function tell(event) {
      var p = place(event), around = svg.parentNode.getBoundingClientRect();
      readout.hidden = !inside(p) || !!box;
      if (readout.hidden) return;
      var v = nearest(p);
      readout.textContent = short(value(v[0], frame[0], frame[1], frame[4], frame[5], frame[8])) + ', ' +
        short(value(v[1], frame[3], frame[2], frame[6], frame[7], frame[9]));
      readout.style.left = Math.min(event.clientX - around.left + 14, around.width - 130) + 'px';
      readout.style.top = event.clientY - around.top - 28 + 'px';
    }
    function drag(p) {
      if (!box) {
        box = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
        box.setAttribute('fill', '#0072b2');
        box.setAttribute('fill-opacity', '.15');
        svg.appendChild(box);
      }
      box.setAttribute('x', Math.min(p.x, start.x));
      box.setAttribute('y', Math.min(p.y, start.y));
      box.setAttribute('width', Math.abs(p.x - start.x));
      box.setAttribute('height', Math.abs(p.y - start.y));
    }
    svg.addEventListener('pointerdown', function (event) {
      start = event.pointerType === 'mouse' && event.button === 0 ? place(event) : null;
      if (start) event.preventDefault();
    });
    svg.addEventListener('pointermove', function (event) {
      var p = place(event);
      if (start && p && Math.hypot(p.x - start.x, p.y - start.y) > 6) drag(p);
      tell(event);
    });
    svg.addEventListener('pointerleave', function () {
      readout.hidden = true;
      if (box) box.remove();
      start = box = null;
    });
    svg.addEventListener('pointerup', function () {
      var b = box;
      start = box = null;
      if (!b) return;
      b.remove();
      var w = +b.getAttribute('width'), h = +b.getAttribute('height');
      if (w > 8 && h > 8) svg.setAttribute('viewBox', [b.getAttribute('x'), b.getAttribute('y'), w, h].join(' '));
    });
    svg.addEventListener('dblclick', function () {
      svg.setAttribute('viewBox', whole);
    });
  }

  /* ---- players ---- */

  function numbers(text) {
    var raw = atob(text), out = new Uint16Array(raw.length / 2);
    for (var i = 0; i < out.length; i++) out[i] = raw.charCodeAt(2 * i) | raw.charCodeAt(2 * i + 1) << 8;
    return out;
  }

  function player(root) {
    var scene = JSON.parse(root.querySelector('script').textContent), data = numbers(scene.data);
    var canvas = root.querySelector('canvas'), slider = root.querySelector('input');
    var button = root.querySelector('button'), shown = root.querySelector('output');
    var width = scene.dims * (scene.arrows ? 2 : 1), playing = false, last = 0, yaw = 0.6, tilt = 0.42, hold = null;
    var colour = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

    /* Component c of an item at a time, from 0 to 1; null where there is none. */
    function part(time, item, c) {
      var x = data[(time * scene.items + item) * width + c];
      return x === 65535 ? null : x / 65534;
    }
    /* A place in the cube (-1, 1)^3 on the canvas. */
    function project(x, y, z, size) {
      if (scene.dims === 3) {
        var u = x * Math.cos(yaw) - y * Math.sin(yaw), v = x * Math.sin(yaw) + y * Math.cos(yaw);
        x = u * 0.62;
        y = (z * Math.cos(tilt) - v * Math.sin(tilt)) * 0.62;
      } else {
        x *= 0.82;
        y *= 0.82;
      }
      var across = scene.dims === 3 ? size[1] : size[0];
      return [size[0] / 2 + x * across / 2, size[1] / 2 - y * size[1] / 2];
    }
    function corner(i) {
      return [i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1];
    }
    function line(g, a, b) {
      g.beginPath();
      g.moveTo(a[0], a[1]);
      g.lineTo(b[0], b[1]);
      g.stroke();
    }
    function frame(g, size, ink) {
      var i, k, corners = scene.dims === 3 ? 8 : 4;
      g.strokeStyle = ink;
      g.globalAlpha = 0.25;
      for (i = 0; i < corners; i++)
        for (k = 1; k < corners; k *= 2)
          if (!(i & k)) line(g, project.apply(null, corner(i).concat([size])),
            project.apply(null, corner(i | k).concat([size])));
      g.globalAlpha = 0.8;
      g.fillStyle = ink;
      g.font = Math.round(size[0] / 48) + 'px sans-serif';
      for (k = 0; k < scene.dims; k++) {
        var low = [-1, -1, -1], high = [-1, -1, -1], middle = [-1, -1, -1];
        high[k] = 1;
        middle[k] = 0;
        var beside = scene.dims === 2 ? k === 1 : k === 2; /* an upright axis has its labels at its left */
        [[low, scene.low[k]], [middle, scene.names[k]], [high, scene.high[k]]].forEach(function (label) {
          var p = project.apply(null, label[0].concat([size])), text = label[1];
          g.textAlign = beside ? 'right' : 'center';
          if (typeof text === 'number') text = String(Number(text.toPrecision(3)));
          var left = g.measureText(text).width + 2; /* nothing of a label is cut off */
          g.fillText(text, beside ? Math.max(p[0] - 6, left) : p[0], p[1] + size[0] / 40 * (beside ? 0.3 : 1));
        });
      }
      g.globalAlpha = 1;
    }
    function at(time, item, size) {
      var x = part(time, item, 0), y = part(time, item, 1), z = scene.dims === 3 ? part(time, item, 2) : 0;
      return x === null || y === null || z === null ? null : project(2 * x - 1, 2 * y - 1, 2 * z - 1, size);
    }
    function tip(time, item, size) {
      var c = [0, 1, 2].map(function (k) {
        if (k >= scene.dims) return 0;
        return 2 * part(time, item, k) - 1 + scene.reach * (2 * part(time, item, scene.dims + k) - 1);
      });
      return project(c[0], c[1], c[2], size);
    }
    function draw() {
      var ratio = window.devicePixelRatio || 1, time = +slider.value, i;
      canvas.width = Math.max(50, canvas.clientWidth * ratio);
      canvas.height = Math.max(50, canvas.clientHeight * ratio);
      var g = canvas.getContext('2d'), size = [canvas.width, canvas.height];
      frame(g, size, getComputedStyle(root).color);
      var blue = getComputedStyle(document.documentElement).getPropertyValue('--blue'); /* of light or dark pages */
      var radius = Math.max(1.5, size[0] / (scene.items > 60 ? 320 : 150));
      for (i = 0; i < scene.items; i++) {
        var p = at(time, i, size);
        g.fillStyle = g.strokeStyle = scene.items > 60 ? blue : colour[i % colour.length];
        if (!p) continue;
        if (scene.items <= 60 && !scene.arrows) {
          g.globalAlpha = 0.35;
          for (var back = Math.max(1, time - 12); back <= time; back++) {
            var a = at(back - 1, i, size), b = at(back, i, size);
            if (a && b && Math.hypot(a[0] - b[0], a[1] - b[1]) < size[0] / 3) line(g, a, b);
          }
        }
        g.globalAlpha = scene.items > 60 ? 0.6 : 0.9;
        g.lineWidth = ratio * 1.6;
        if (scene.arrows) line(g, p, tip(time, i, size));
        g.beginPath();
        g.arc(p[0], p[1], radius, 0, 7);
        g.fill();
        g.lineWidth = ratio;
      }
      g.globalAlpha = 1;
      shown.textContent = 't = ' + short(scene.time[time]);
    }
    function run(now) {
      if (!playing) return;
      if (now - last > 50) {
        last = now;
        slider.value = (+slider.value + 1) % scene.time.length;
        draw();
      }
      requestAnimationFrame(run);
    }
    button.addEventListener('click', function () {
      playing = !playing;
      button.textContent = playing ? 'Pause' : 'Play';
      requestAnimationFrame(run);
    });
    slider.addEventListener('input', draw);
    if (scene.dims === 3) {
      canvas.style.cursor = 'grab';
      canvas.addEventListener('pointerdown', function (event) {
        hold = [event.clientX, event.clientY, yaw, tilt];
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener('pointermove', function (event) {
        if (!hold) return;
        yaw = hold[2] + (event.clientX - hold[0]) / 120;
        tilt = Math.max(-1.5, Math.min(1.5, hold[3] + (event.clientY - hold[1]) / 120));
        draw();
      });
      canvas.addEventListener('pointerup', function () {
        hold = null;
      });
    }
    new ResizeObserver(draw).observe(canvas);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    root.hidden = false;
    draw();
  }

  document.querySelectorAll('svg.plot[data-axes]').forEach(figure);
  document.querySelectorAll('.player').forEach(player);
  document.documentElement.dataset.ready = document.querySelectorAll('.player').length + ' players';
})();
