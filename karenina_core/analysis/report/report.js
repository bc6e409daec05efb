"use strict";
(function () {
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var width = 0;
  // A legend that needs more rows than its margin holds makes the figure taller, not the drawing smaller.
  function missing(element, layout) {
    var legend = element.querySelector(".legend");
    var below = layout.legend && layout.legend.yref === "container";
    var room = layout.margin ? layout.margin[below ? "b" : "t"] : 0;
    return legend ? Math.max(0, Math.ceil(legend.getBoundingClientRect().height) - room) : 0;
  }
  function draw() {
    var colour = getComputedStyle(document.body).color;
    width = document.documentElement.clientWidth;
    figures.forEach(function (figure, place) {
      var element = document.getElementById("figure-" + place);
      var layout = Object.assign({}, figure.layout, { autosize: false });
      var least = (layout.meta && layout.meta.least_width) || 0;
      layout.width = figure.layout.width || Math.max(element.parentElement.clientWidth, least);
      layout.font = Object.assign({}, layout.font, { color: colour });
      Plotly.react(element, figure.data, layout, { displaylogo: false, showSendToCloud: false }).then(function () {
        var more = missing(element, layout);
        if (more > 0) Plotly.relayout(element, { height: layout.height + more });
      });
    });
  }
  draw();
  dark.addEventListener("change", draw);
  window.addEventListener("resize", function () {
    if (document.documentElement.clientWidth !== width) draw();
  });
})();
