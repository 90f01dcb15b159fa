/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A citation for a run, in BibTeX: the software, and the papers behind its method.  Papers are found in the text that
 * describes a method by their DOI, or by the words that stand there for those without one; a DOI that the table does
 * not have is an entry all the same, with nothing else in it.  A method made of another one is cited with that. */
#include "out/out.h"

#include <stdlib.h>
#include <string.h>

struct paper {
    const char *mark; /* what names it in the description of a method */
    const char *kind, *key, *author, *title, *where, *year, *volume, *pages, *doi;
};

static const struct paper papers[] = {
    {"10.1007/s10543-018-0720-2", "article", "holm2018", "Holm, Darryl D. and Tyranowski, Tomasz M.",
     "Stochastic discrete Hamiltonian variational integrators", "BIT Numerical Mathematics", "2018", "58",
     "1009--1048", "10.1007/s10543-018-0720-2"},
    {"10.1137/S0036142901395588", "article", "milstein2002", "Milstein, G. N. and Repin, Yu. M. and Tretyakov, M. V.",
     "Numerical methods for stochastic systems preserving symplectic structure", "SIAM Journal on Numerical Analysis",
     "2002", "40", "1583--1604", "10.1137/S0036142901395588"},
    {"10.1016/0021-9991(83)90014-1", "article", "andersen1983", "Andersen, Hans C.",
     "Rattle: a \"velocity\" version of the Shake algorithm for molecular dynamics calculations",
     "Journal of Computational Physics", "1983", "52", "24--34", "10.1016/0021-9991(83)90014-1"},
    {"10.1016/0021-9991(77)90098-5", "article", "ryckaert1977",
     "Ryckaert, Jean-Paul and Ciccotti, Giovanni and Berendsen, Herman J. C.",
     "Numerical integration of the cartesian equations of motion of a system with constraints: molecular dynamics "
     "of n-alkanes", "Journal of Computational Physics", "1977", "23", "327--341", "10.1016/0021-9991(77)90098-5"},
    {"10.1093/imanum/drn018", "article", "bourabee2009", "Bou-Rabee, Nawaf and Owhadi, Houman",
     "Stochastic variational integrators", "IMA Journal of Numerical Analysis", "2009", "29", "421--443",
     "10.1093/imanum/drn018"},
    {"10.1137/0733019", "article", "jay1996", "Jay, Laurent",
     "Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems",
     "SIAM Journal on Numerical Analysis", "1996", "33", "368--387", "10.1137/0733019"},
    {"10.1093/amrx/abs010", "article", "leimkuhler2013", "Leimkuhler, Benedict and Matthews, Charles",
     "Rational construction of stochastic numerical methods for molecular sampling",
     "Applied Mathematics Research eXpress", "2013", "2013", "34--56", "10.1093/amrx/abs010"},
    {"10.1137/090758842", "article", "bourabee2010", "Bou-Rabee, Nawaf and Owhadi, Houman",
     "Long-run accuracy of variational integrators in the stochastic context", "SIAM Journal on Numerical Analysis",
     "2010", "48", "278--297", "10.1137/090758842"},
    {"10.1098/rspa.2016.0138", "article", "leimkuhler2016", "Leimkuhler, Benedict and Matthews, Charles",
     "Efficient molecular dynamics using geodesic integration and solvent-solute splitting",
     "Proceedings of the Royal Society A", "2016", "472", "", "10.1098/rspa.2016.0138"},
    {"10.1007/s00211-019-01056-4", "article", "lelievre2019",
     "Leli{\\`e}vre, Tony and Rousset, Mathias and Stoltz, Gabriel",
     "Hybrid Monte Carlo methods for sampling probability measures on submanifolds", "Numerische Mathematik", "2019",
     "143", "379--421", "10.1007/s00211-019-01056-4"},
    {"10.1002/cpa.21783", "article", "zappa2018", "Zappa, Emilio and Holmes-Cerfon, Miranda and Goodman, Jonathan",
     "Monte Carlo on manifolds: sampling densities and integrating functions",
     "Communications on Pure and Applied Mathematics", "2018", "71", "2609--2647", "10.1002/cpa.21783"},
    {"10.1016/0009-2614(84)80098-6", "article", "bruenger1984",
     "Br{\\\"u}nger, Axel and Brooks, Charles L. and Karplus, Martin",
     "Stochastic boundary conditions for molecular dynamics simulations of ST2 water", "Chemical Physics Letters",
     "1984", "105", "495--500", "10.1016/0009-2614(84)80098-6"},
    {"10.1080/08927029108022142", "article", "grubmueller1991",
     "Grubm{\\\"u}ller, Helmut and Heller, Helmut and Windemuth, Andreas and Schulten, Klaus",
     "Generalized Verlet algorithm for efficient molecular dynamics simulations with long-range interactions",
     "Molecular Simulation", "1991", "6", "121--142", "10.1080/08927029108022142"},
    {"10.1063/1.463137", "article", "tuckerman1992", "Tuckerman, Mark and Berne, Bruce J. and Martyna, Glenn J.",
     "Reversible multiple time scale molecular dynamics", "The Journal of Chemical Physics", "1992", "97",
     "1990--2001", "10.1063/1.463137"},
    {"10.1137/S1064827596313851", "article", "garciaarchilla1998",
     "Garc{\\'i}a-Archilla, Bosco and Sanz-Serna, Jes{\\'u}s Mar{\\'i}a and Skeel, Robert D.",
     "Long-time-step methods for oscillatory differential equations", "SIAM Journal on Scientific Computing", "1998",
     "20", "930--963", "10.1137/S1064827596313851"},
    {"10.1137/080732936", "article", "stern2009", "Stern, Ari and Grinspun, Eitan",
     "Implicit-explicit variational integration of highly oscillatory problems", "Multiscale Modeling and Simulation",
     "2009", "7", "1779--1794", "10.1137/080732936"},
    {"10.1007/BF01386037", "article", "gautschi1961", "Gautschi, Walter",
     "Numerical integration of ordinary differential equations based on trigonometric polynomials",
     "Numerische Mathematik", "1961", "3", "381--397", "10.1007/BF01386037"},
    {"10.1007/3-540-30666-8", "book", "hairer2006", "Hairer, Ernst and Lubich, Christian and Wanner, Gerhard",
     "Geometric Numerical Integration", "Springer", "2006", "", "", "10.1007/3-540-30666-8"},
    {"10.1007/BF01601932", "article", "deuflhard1979", "Deuflhard, Peter",
     "A study of extrapolation methods based on multistep schemes without parasitic solutions",
     "Zeitschrift f{\\\"u}r angewandte Mathematik und Physik", "1979", "30", "177--189", "10.1007/BF01601932"},
    {"10.1007/s002110050456", "article", "hochbruck1999", "Hochbruck, Marlis and Lubich, Christian",
     "A Gautschi-type method for oscillatory second-order differential equations", "Numerische Mathematik", "1999",
     "83", "403--426", "10.1007/s002110050456"},
    {"10.1137/S0036142999353594", "article", "hairer2000", "Hairer, Ernst and Lubich, Christian",
     "Long-time energy conservation of numerical methods for oscillatory differential equations",
     "SIAM Journal on Numerical Analysis", "2000", "38", "414--441", "10.1137/S0036142999353594"},
    {"10.1088/0305-4470/39/19/S10", "article", "grimm2006", "Grimm, Volker and Hochbruck, Marlis",
     "Error analysis of exponential integrators for oscillatory second-order differential equations",
     "Journal of Physics A: Mathematical and General", "2006", "39", "5495--5507", "10.1088/0305-4470/39/19/S10"},
    {"10.1137/0705041", "article", "strang1968", "Strang, Gilbert",
     "On the construction and comparison of difference schemes", "SIAM Journal on Numerical Analysis", "1968", "5",
     "506--517", "10.1137/0705041"},
    {"10.1016/S0168-9274(98)00030-0", "article", "munthekaas1999", "Munthe-Kaas, Hans",
     "High order Runge-Kutta methods on manifolds", "Applied Numerical Mathematics", "1999", "29", "115--127",
     "10.1016/S0168-9274(98)00030-0"},
    {"10.1016/0375-9601(90)90092-3", "article", "yoshida1990", "Yoshida, Haruo",
     "Construction of higher order symplectic integrators", "Physics Letters A", "1990", "150", "262--268",
     "10.1016/0375-9601(90)90092-3"},
    {"10.1016/0375-9601(90)90962-N", "article", "suzuki1990", "Suzuki, Masuo",
     "Fractal decomposition of exponential operators with applications to many-body theories and Monte Carlo "
     "simulations", "Physics Letters A", "1990", "146", "319--323", "10.1016/0375-9601(90)90962-N"},
    {"10.1007/BF02440162", "article", "gonzalez1996", "Gonzalez, Oscar",
     "Time integration and discrete Hamiltonian systems", "Journal of Nonlinear Science", "1996", "6", "449--467",
     "10.1007/BF02440162"},
    {"10.1007/s10444-020-09771-5", "article", "chen2020",
     "Chen, Chuchu and Cohen, David and D'Ambrosio, Raffaele and Lang, Annika",
     "Drift-preserving numerical integrators for stochastic Hamiltonian systems",
     "Advances in Computational Mathematics", "2020", "46", "27", "10.1007/s10444-020-09771-5"},
    {"10.1002/cpa.3160070404", "article", "magnus1954", "Magnus, Wilhelm",
     "On the exponential solution of differential equations for a linear operator",
     "Communications on Pure and Applied Mathematics", "1954", "7", "649--673", "10.1002/cpa.3160070404"},
    {"10.1080/07362999208809281", "article", "kloedenplatenwright1992",
     "Kloeden, P. E. and Platen, E. and Wright, I. W.",
     "The approximation of multiple stochastic integrals", "Stochastic Analysis and Applications", "1992", "10",
     "431--441", "10.1080/07362999208809281"},
    {"10.48550/arXiv.2210.17543", "misc", "foster2022", "Foster, James and dos Reis, Gon{\\c{c}}alo and Strange, Calum",
     "High order splitting methods for SDEs satisfying a commutativity condition", "arXiv:2210.17543", "2022", "", "",
     "10.48550/arXiv.2210.17543"},
    {"10.1080/10556780500140664", "article", "sofroniou2005", "Sofroniou, Mark and Spaletta, Giulia",
     "Derivation of symmetric composition constants for symmetric integrators", "Optimization Methods and Software",
     "2005", "20", "597--613", "10.1080/10556780500140664"},
    {"10.1016/S0377-0427(01)00492-7", "article", "blanes2002", "Blanes, Sergio and Moan, Per Christian",
     "Practical symplectic partitioned Runge-Kutta and Runge-Kutta-Nystr{\\\"o}m methods",
     "Journal of Computational and Applied Mathematics", "2002", "142", "313--330", "10.1016/S0377-0427(01)00492-7"},
    {"10.48550/arXiv.2202.01541", "misc", "blanes2022",
     "Blanes, Sergio and Casas, Fernando and Escorihuela-Tom{\\`a}s, Alejandro",
     "Runge-Kutta-Nystr{\\\"o}m symplectic splitting methods of order 8", "arXiv:2202.01541", "2022", "", "",
     "10.48550/arXiv.2202.01541"},
    {"10.1090/S0025-5718-97-00873-9", "article", "kahan1997", "Kahan, William and Li, Ren-Cang",
     "Composition constants for raising the orders of unconventional schemes for ordinary differential equations",
     "Mathematics of Computation", "1997", "66", "1089--1099", "10.1090/S0025-5718-97-00873-9"},
    {"10.1007/978-3-642-78448-4_7", "incollection", "suzuki1993", "Suzuki, Masuo and Umeno, Ken",
     "Higher-order decomposition theory of exponential operators and its applications to QMC and nonlinear dynamics",
     "Computer Simulation Studies in Condensed-Matter Physics VI", "1993", "", "74--86", "10.1007/978-3-642-78448-4_7"},
    {"10.1137/0916010", "article", "mclachlan1995", "McLachlan, Robert I.",
     "On the numerical integration of ordinary differential equations by symmetric composition methods",
     "SIAM Journal on Scientific Computing", "1995", "16", "151--168", "10.1137/0916010"},
    {"Stochastic variational partitioned Runge-Kutta integrators", "misc", "bourabee2007",
     "Bou-Rabee, Nawaf and Owhadi, Houman",
     "Stochastic variational partitioned Runge-Kutta integrators for constrained systems", "arXiv:0709.2222", "2007",
     "", "", ""},
    {"Sanz-Serna & Zygalakis (2021)", "article", "sanzserna2021",
     "Sanz-Serna, Jes{\\'u}s Mar{\\'i}a and Zygalakis, Konstantinos C.",
     "Wasserstein distance estimates for the distributions of numerical approximations to ergodic stochastic "
     "differential equations", "Journal of Machine Learning Research", "2021", "22", "", ""},
    {"Zapatero (2017)", "phdthesis", "zapatero2017", "{\\'A}lamo Zapatero, Alfonso",
     "Word series for the numerical integration of stochastic differential equations", "Universidad de Valladolid",
     "2017", "", "", ""},
    {"Zhang & Skeel (1997)", "article", "zhang1997", "Zhang, Meiqing and Skeel, Robert D.",
     "Cheap implicit symplectic integrators", "Applied Numerical Mathematics", "1997", "25", "297--302", ""},
    {"10.1093/imanum/dru064", "article", "tao2016", "Tao, Molei and Owhadi, Houman",
     "Variational and linearly implicit integrators, with applications", "IMA Journal of Numerical Analysis", "2016",
     "36", "80--107", "10.1093/imanum/dru064"},
    {"10.1061/JMCEA3.0000098", "article", "newmark1959", "Newmark, Nathan M.",
     "A method of computation for structural dynamics", "Journal of the Engineering Mechanics Division", "1959", "85",
     "67--94", "10.1061/JMCEA3.0000098"},
    {"Kane, Marsden, Ortiz & West (2000)", "article", "kane2000",
     "Kane, C. and Marsden, J. E. and Ortiz, M. and West, M.",
     "Variational integrators and the Newmark algorithm for conservative and dissipative mechanical systems",
     "International Journal for Numerical Methods in Engineering", "2000", "49", "1295--1325",
     "10.1002/1097-0207(20001210)49:10<1295::AID-NME993>3.0.CO;2-W"},
    {"10.1137/S1064827595282350", "article", "skeel1997", "Skeel, Robert D. and Zhang, Guihua and Schlick, Tamar",
     "A family of symplectic integrators: stability, accuracy, and molecular dynamics applications",
     "SIAM Journal on Scientific Computing", "1997", "18", "203--222", "10.1137/S1064827595282350"},
    {"10.1007/BF02846028", "article", "maruyama1955", "Maruyama, Gisiro",
     "Continuous Markov processes and stochastic equations", "Rendiconti del Circolo Matematico di Palermo", "1955",
     "4", "48--90", "10.1007/BF02846028"},
    {"10.1007/978-3-662-12616-5", "book", "kloeden1992", "Kloeden, Peter E. and Platen, Eckhard",
     "Numerical Solution of Stochastic Differential Equations", "Springer", "1992", "", "",
     "10.1007/978-3-662-12616-5"},
    {"Kutta (1901)", "article", "kutta1901", "Kutta, Wilhelm",
     "Beitrag zur n{\\\"a}herungsweisen Integration totaler Differentialgleichungen",
     "Zeitschrift f{\\\"u}r Mathematik und Physik", "1901", "46", "435--453", ""},
    {"10.1137/1119062", "article", "milstein1975", "Milstein, G. N.",
     "Approximate integration of stochastic differential equations", "Theory of Probability and its Applications",
     "1975", "19", "557--562", "10.1137/1119062"},
    {"Ma, Ding & Ding (2012)", "article", "ma2012", "Ma, Qiang and Ding, Deqiong and Ding, Xiaohua",
     "Symplectic conditions and stochastic generating functions of stochastic Runge-Kutta methods for stochastic "
     "Hamiltonian systems with multiplicative noise", "Applied Mathematics and Computation", "2012", "219", "", ""},
    {"Ma & Ding (2015)", "article", "ma2015", "Ma, Qiang and Ding, Xiaohua",
     "Stochastic symplectic partitioned Runge-Kutta methods for stochastic Hamiltonian systems with multiplicative "
     "noise", "Applied Mathematics and Computation", "2015", "252", "", ""},
};
#define PAPERS (sizeof papers / sizeof *papers)
#define MOST_UNKNOWN 16

struct list {
    bool cited[PAPERS];
    char unknown[MOST_UNKNOWN][80]; /* DOIs */
    size_t nunknown;
};

static bool has_doi(const char *doi) {
    for (size_t i = 0; i < PAPERS; i++)
        if (strcmp(papers[i].doi, doi) == 0) return true;
    return false;
}

/* DOIs of the text that the table does not have.  In the text blanks, commas and semicolons end one. */
static void add_unknown(struct list *l, const char *text) {
    for (const char *s = text; (s = strstr(s, "doi 10.")) != NULL;) {
        char doi[80];
        s += 4;
        size_t n = strcspn(s, " ,;");
        if (n >= sizeof doi) continue;
        memcpy(doi, s, n);
        doi[n] = '\0';
        bool there = has_doi(doi);
        for (size_t i = 0; i < l->nunknown; i++) there = there || strcmp(l->unknown[i], doi) == 0;
        if (!there && l->nunknown < MOST_UNKNOWN) memcpy(l->unknown[l->nunknown++], doi, sizeof doi);
    }
}

static void add_text(struct list *l, const char *text) {
    for (size_t i = 0; i < PAPERS; i++) l->cited[i] = l->cited[i] || strstr(text, papers[i].mark);
    add_unknown(l, text);
}

/* The method, and what stands before each of its suffixes: verlet-8 is verlet, composed. */
static void add_method(struct list *l, const char *name) {
    char part[200];
    snprintf(part, sizeof part, "%s", name);
    for (char *end = part + strlen(part); end; end = strrchr(part, '-')) {
        *end = '\0';
        const struct lgv_method *m = lgv_method_find(part);
        if (m && m->paper) add_text(l, m->paper);
    }
}

static void field(struct lgv_text *out, const char *name, const char *value) {
    if (*value) lgv_text_add(out, ",\n  %s = {%s}", name, value);
}

static void entry(struct lgv_text *out, const struct paper *p) {
    bool book = strcmp(p->kind, "book") == 0, thesis = strcmp(p->kind, "phdthesis") == 0,
         misc = strcmp(p->kind, "misc") == 0, part = strcmp(p->kind, "incollection") == 0;
    lgv_text_add(out, "\n@%s{%s", p->kind, p->key);
    field(out, "author", p->author);
    field(out, "title", p->title);
    field(out, book ? "publisher" : thesis ? "school" : misc ? "howpublished" : part ? "booktitle" : "journal",
          p->where);
    field(out, "year", p->year);
    field(out, "volume", p->volume);
    field(out, "pages", p->pages);
    field(out, "doi", p->doi);
    lgv_text_add(out, "\n}\n");
}

void lgv_cite_method(struct lgv_text *out, const char *method) {
    struct list l = {0};
    add_method(&l, method);
    for (size_t i = 0; i < PAPERS; i++)
        if (l.cited[i]) entry(out, &papers[i]);
    for (size_t i = 0; i < l.nunknown; i++)
        lgv_text_add(out, "\n@misc{paper%zu,\n  doi = {%s}\n}\n", i + 1, l.unknown[i]);
}

char *lgv_cite(const struct lgv_result *r) {
    struct lgv_text out = {0};
    char version[40], method[200], model[200];
    lgv_text_add(&out,
                 "%% Citations for a run of the model %s, by method %s\n@software{lagrangevin,\n"
                 "  author = {{The Lagrangevin authors}},\n"
                 "  title = {Lagrangevin: structure-preserving ensembles of random mechanical systems},\n"
                 "  version = {%s},\n  year = {%.4s}\n}\n",
                 lgv_plain(model, sizeof model, r->model_name),
                 lgv_plain(method, sizeof method, r->method), lgv_plain(version, sizeof version, r->version),
                 r->date && strlen(r->date) >= 4 ? r->date : "2026");
    if (r->method) lgv_cite_method(&out, r->method);
    if (out.failed) lgv_text_free(&out);
    return out.data;
}
