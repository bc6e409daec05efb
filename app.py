"""Entry point: page settings and navigation. Start it with `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from pages.components import frame

ICON = str(Path(__file__).parent / "pages/icon.png")
st.set_page_config(page_title="Karenina Workbench", page_icon=ICON, layout="wide")
frame.navigation().run()
