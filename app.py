"""Entry point: page settings and navigation. Start it with `streamlit run app.py`."""

import streamlit as st

from pages.components import frame

st.set_page_config(page_title="Karenina Workbench", page_icon="🧪", layout="wide")
frame.navigation().run()
