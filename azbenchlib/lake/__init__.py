"""A lake: the tables of any number of outputs as Parquet, in a folder or in Azure, asked with SQL."""
