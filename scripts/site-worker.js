/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The search of the site is a worker, and browsers allow no workers to pages that are opened as files.  There a hidden
 * frame runs its script instead: messages go to the frame and back. */
if (location.protocol === 'file:')
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      var worker = this, frame = document.createElement('iframe');
      this.onmessage = null;
      this.waiting = [];
      frame.hidden = true;
      document.body.appendChild(frame);
      var inside = this.inside = frame.contentWindow;
      inside.postMessage = function (data) {
        setTimeout(function () {
          var event = new MessageEvent('message', { data: data });
          worker.dispatchEvent(event);
          if (worker.onmessage) worker.onmessage(event);
        });
      };
      var script = inside.document.createElement('script');
      script.src = new URL(url, location.href).href;
      script.onload = function () {
        var waiting = worker.waiting;
        worker.waiting = null;
        waiting.forEach(function (data) { worker.postMessage(data); });
      };
      inside.document.body.appendChild(script);
    }
    postMessage(data) {
      var inside = this.inside;
      if (this.waiting) this.waiting.push(data);
      else setTimeout(function () { inside.dispatchEvent(new MessageEvent('message', { data: data })); });
    }
    terminate() {}
  };
