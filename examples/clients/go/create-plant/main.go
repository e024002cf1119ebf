// ACCESS_TOKEN=… go run ./create-plant http://127.0.0.1:3000 'Monstera deliciosa'
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"example.com/plantstore"
)

func main() {
	plants := plantstore.New(os.Args[1], os.Getenv("ACCESS_TOKEN"))
	plant := plantstore.Plant{ID: plantstore.NewID(), Name: os.Args[2]}
	err := plants.Create(context.Background(), plant)
	if errors.Is(err, plantstore.ErrUnknown) {
		err = plants.CreateAgain(context.Background(), plant) // Later, from wherever you keep the plant.
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stored", plant.ID)
}
