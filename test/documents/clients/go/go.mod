module example.com/driver

go 1.22

require example.com/plantstore v0.0.0

replace example.com/plantstore => ../../../../examples/clients/go
