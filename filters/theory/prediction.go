package theory

// Prediction is what theory expects of one filter geometry after a number of
// distinct keys were inserted. Fields that make no sense for a family are zero.
type Prediction struct {
	Inserted uint64  // distinct keys inserted
	FPR      float64 // expected false-positive rate, the mean over seeds, hash-width floor included
	BuildSD  float64 // standard deviation of the conditional rate from one seed to the next
	Fill     float64 // expected FillRatio
	Bits     uint64  // SizeBits of the filter
	K        int     // probes (standard, blocked, counting), fingerprint bits (cuckoo), most probes of a stage (scalable)
	Capacity uint64  // keys the geometry was sized for; for cuckoo the keys it takes without refusing one
	Stages   int     // stages open (scalable), else 0
	Overflow float64 // expected number of saturated counters (counting), else 0
}

// BitsPerKey is the space for each inserted key, in bits.
func (p Prediction) BitsPerKey() float64 { return float64(p.Bits) / float64(p.Inserted) }
