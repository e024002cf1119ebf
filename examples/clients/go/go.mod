module example.com/plantstore

go 1.19
