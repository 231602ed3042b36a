"""What flows between blocks: frozen records and their JSON form."""
