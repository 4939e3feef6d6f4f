"""What scripts/checks/soak.py is made of: processes and their ends, the folder they work in, and the rules."""
