// Package cuckoo is the cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher,
// CoNEXT 2014).
package cuckoo
