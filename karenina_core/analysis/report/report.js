"use strict";
(function () {
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  function draw() {
    var colour = getComputedStyle(document.body).color;
    figures.forEach(function (figure, place) {
      var layout = Object.assign({}, figure.layout, { autosize: true });
      layout.font = Object.assign({}, layout.font, { color: colour });
      Plotly.react("figure-" + place, figure.data, layout, { displaylogo: false, responsive: true, showSendToCloud: false });
    });
  }
  draw();
  dark.addEventListener("change", draw);
})();
