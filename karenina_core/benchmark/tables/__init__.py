"""Questions from spreadsheets and other tables: read, mapped, examined, imported."""
