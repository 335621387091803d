"""Which settings of other systems a file of a project may give. Pure tables; what is in none of them is refused."""
