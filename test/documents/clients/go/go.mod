module example.com/driver

go 1.19

require example.com/plantstore v0.0.0

replace example.com/plantstore => ../../../../examples/clients/go
