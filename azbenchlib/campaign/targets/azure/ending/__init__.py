"""How a run in Azure ends: who holds its resource group, what is deleted, what earlier runs left."""
