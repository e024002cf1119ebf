# ACCESS_TOKEN=… python3 create_plant.py http://127.0.0.1:3000 'Monstera deliciosa'
import os
import sys

from plant_store_client import OutcomeUnknownError, Plant, PlantStoreClient, new_plant_id

address, name = sys.argv[1:]
plants = PlantStoreClient(address, os.environ["ACCESS_TOKEN"])
plant = Plant(new_plant_id(), name)
try:
    plants.create(plant)
except OutcomeUnknownError:
    plants.create_again(plant)  # Later, from wherever you keep the plant.
print("stored", plant.id)
