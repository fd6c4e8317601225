package theory

import "math"

// Double64 is the rate of a standard filter whose k probes are the fast range of
// a + i b mod 2^64, a and b uniform 64-bit numbers. Steps are taken before the
// range reduction, so that two keys of nearly equal step drift apart by parts of a
// bit and lose touch sooner than under [DoubleHashing]: +3.7% where that has +13%
// (m = 1024, k = 7). Simulated, the rate is right within 0.2% at m = 256, k = 7
// and not to be told from it at m = 1024. It is meant for m up to 2^32, beyond which its
// term is too small to matter. NaN below 2 k^2 bits and for k above 32.
//
// # Derivation
//
// On the circle of 2^64 points a key is a line of k equidistant points and a bit an
// arc. Any two probes are independent, as are any two of one key, so to the order
// of pairs the rate is that of independent probes, and what differs are three or
// more coincidences. With (j, i) as under [DoubleHashing], a chain of L grid points
// is met in h of them by keys of total measure matches[L][h]/m^2, or phi(d)/d of it
// on every d-th point, for the steps near l/d of the circle. A step within 1/m of
// l/d also makes probes of one key coincide: d chains of k/d points each, where D
// cells take a chain of L points with probability piecewise linear in the drift.
func Double64(m, n uint64, k int) float64 {
	if !valid64(m, k) {
		return math.NaN()
	}
	if n == 0 {
		return 0
	}
	t := newTerms(m, n, k)
	return t.rate(double64Sums(t))
}

func double64Sums(t terms) (keys, lost, query float64) {
	k := t.k
	for y := 1; y < k; y++ {
		for x := 1; 2*max(x, y) < k; x++ { // chains of three points or more
			d := gcd(x, y)
			weight := 2 * float64(totient(d)) / float64(d) // both signs of the slope
			counts := make([]float64, k+1)
			countChains(counts, x, y, weight)
			for L := 3; L <= k; L++ {
				keys += counts[L] * t.chain(L)
			}
		}
	}
	pairs := float64(k*(k-1)) / 2
	query, lost = -pairs*t.single, -pairs
	for d := 1; d < k; d++ {
		near := float64(totient(d)) / float64(d)
		query += near * t.drift(d)
		lost += near * float64(k-d)
	}
	return keys, lost, query
}

// Enhanced64 is the rate of a standard filter whose probes are the fast range of a
// + i b + c (i^3-i)/6 mod 2^64 for an odd constant c far from any simple fraction
// of 2^64. Nothing but the key of nearly the same a and b follows a query further
// than three probes, and no three probes of a key coincide, so the rate is that
// of independent probes but for 0.4% at m = 256, k = 7 and 0.1% at m = 1024; the
// term given leaves out the few keys that meet just three. NaN below 2 k^2 bits and for k above 32.
func Enhanced64(m, n uint64, k int) float64 {
	if !valid64(m, k) {
		return math.NaN()
	}
	if n == 0 {
		return 0
	}
	t := newTerms(m, n, k)
	return t.rate(enhanced64Sums(t))
}

func enhanced64Sums(t terms) (keys, lost, query float64) {
	k := t.k
	for d := 1; 2*d < k; d++ { // the query's own line, and every d-th point of it
		for r := range d {
			if L := (k - r + d - 1) / d; L >= 3 {
				keys += float64(totient(d)) / float64(d) * t.chain(L)
			}
		}
	}
	return keys, 0, 0
}

func valid64(m uint64, k int) bool {
	return validStandard(m, k) && k < len(matches) && m >= 2*uint64(k)*uint64(k)
}

// terms holds what the additive terms of a stepping scheme are made of.
type terms struct {
	m, n   uint64
	k      int
	pow    []float64 // powers of the fill
	single float64   // what covering one more probe is worth
}

func newTerms(m, n uint64, k int) terms {
	return terms{m: m, n: n, k: k}.at(-math.Expm1(-float64(k) * float64(n) / float64(m)))
}

// at is t at another fill.
func (t terms) at(fill float64) terms {
	t.pow = make([]float64, t.k+1)
	t.pow[0] = 1
	for h := 1; h <= t.k; h++ {
		t.pow[h] = t.pow[h-1] * fill
	}
	t.single = t.pow[t.k-1] - t.pow[t.k]
	return t
}

// gain is what a key that covers h probes of a query at once adds to the rate.
func (t terms) gain(h int) float64 { return t.pow[t.k-h] - t.pow[t.k] - float64(h)*t.single }

// rate is Standard plus the terms: keys and lost in units of n/m^2, query in units
// of 1/m.
func (t terms) rate(keys, lost, query float64) float64 {
	return min(max(Standard(t.m, t.n, t.k)+t.added(keys, lost, query), 0), 1)
}

// added is what the terms add to the rate of independent probes.
func (t terms) added(keys, lost, query float64) float64 {
	M, N, K := float64(t.m), float64(t.n), float64(t.k)
	return (keys-lost*K*t.single)*N/(M*M) + query/M
}

// chain is what the keys that meet a chain of L points in three or more add beyond
// their pairs.
func (t terms) chain(L int) float64 {
	sum := 0.0
	for h := 3; h <= L; h++ {
		pairs := float64(h*(h-1)) / 2
		sum += matches[L][h-3] * (t.gain(h) - pairs*t.gain(2))
	}
	return sum
}

// drift is the integral over e from -1 to 1 of E[p^D] - p^k, D the number of
// cells that a query takes whose probes are d chains with a drift of e cells a
// step: one cell more than the whole part of (L-1) e, or two with the chance of its
// fraction.
func (t terms) drift(d int) float64 {
	const steps = 256
	sum := 0.0
	for i := range steps {
		e := (float64(i) + 0.5) / steps
		product := 1.0
		for r := range d {
			L := (t.k - r + d - 1) / d
			whole, part := math.Modf(float64(L-1) * e)
			j := int(whole)
			product *= t.pow[1+j]*(1-part) + t.pow[min(2+j, t.k)]*part
		}
		sum += product - t.pow[t.k]
	}
	return 2 * sum / steps
}

// matches[L][h-3] is the measure of the pairs of lines y = u + x v whose whole parts
// agree at exactly h of the places x = 0..L-1, up to common whole u and v: the sum
// over pairs of cells of the arrangement u + x v = whole number, of the product of
// their areas. TestMatches computes it anew.
var matches = [33][]float64{
	3:  {0.375},
	4:  {0.4722, 0.1944},
	5:  {0.5625, 0.2431, 0.1146},
	6:  {0.645, 0.2825, 0.1414, 0.07583},
	7:  {0.7292, 0.3097, 0.1701, 0.09139, 0.05278},
	8:  {0.8198, 0.3414, 0.1823, 0.1109, 0.0634, 0.03878},
	9:  {0.9162, 0.3731, 0.1938, 0.1207, 0.07894, 0.04504, 0.02964},
	10: {1.013, 0.4084, 0.2083, 0.1259, 0.0854, 0.05838, 0.03339, 0.02328},
	11: {1.111, 0.4466, 0.2223, 0.133, 0.0884, 0.06487, 0.04373, 0.02565, 0.01867},
	12: {1.209, 0.4855, 0.2375, 0.142, 0.09072, 0.0676, 0.04927, 0.03405, 0.02006, 0.01535},
	13: {1.307, 0.5243, 0.2553, 0.1497, 0.0954, 0.06817, 0.05245, 0.03898, 0.02698, 0.01598, 0.01277},
	14: {1.406, 0.5635, 0.2733, 0.1588, 0.1001, 0.07048, 0.05303, 0.04152, 0.03132, 0.02188, 0.01292, 0.0108},
	15: {1.505, 0.6029, 0.2915, 0.169, 0.1045, 0.07336, 0.05385, 0.04261, 0.03382, 0.02556, 0.01784, 0.01063, 0.009259},
	16: {1.604, 0.6427, 0.3095, 0.1796, 0.1093, 0.07706, 0.05492, 0.04306, 0.03494, 0.02777, 0.02118, 0.01483, 0.00884, 0.008006},
	17: {1.704, 0.6824, 0.3278, 0.1903, 0.1151, 0.07988, 0.05724, 0.0433, 0.0356, 0.02885, 0.02331, 0.01769, 0.01245, 0.00744, 0.006978},
	18: {1.803, 0.7223, 0.3461, 0.2012, 0.121, 0.08313, 0.05974, 0.04429, 0.03556, 0.02975, 0.02416, 0.01969, 0.01499, 0.01053, 0.006331, 0.006143},
	19: {1.902, 0.7622, 0.3647, 0.2119, 0.1271, 0.08712, 0.06156, 0.04595, 0.03611, 0.02939, 0.02529, 0.0206, 0.01678, 0.01277, 0.009006, 0.005429, 0.00544},
	20: {2.002, 0.8022, 0.3834, 0.2227, 0.1333, 0.09127, 0.06362, 0.04782, 0.03674, 0.0298, 0.02513, 0.02149, 0.0177, 0.01441, 0.01102, 0.007737, 0.004696, 0.004857},
	21: {2.101, 0.8422, 0.402, 0.2335, 0.1396, 0.09531, 0.06637, 0.04909, 0.03794, 0.03026, 0.02504, 0.0218, 0.01848, 0.01532, 0.01246, 0.009565, 0.006711, 0.004082, 0.004359},
	22: {2.201, 0.8822, 0.4207, 0.2445, 0.1457, 0.09959, 0.06907, 0.05062, 0.03927, 0.03088, 0.0252, 0.02179, 0.01873, 0.01615, 0.01327, 0.01093, 0.008309, 0.005888, 0.003565, 0.00393},
	23: {2.3, 0.9223, 0.4394, 0.2556, 0.1518, 0.1039, 0.07184, 0.05252, 0.04019, 0.03194, 0.02544, 0.02184, 0.01881, 0.01644, 0.01414, 0.01163, 0.00957, 0.007302, 0.005172, 0.003142, 0.00356},
	24: {2.399, 0.9624, 0.4581, 0.2667, 0.158, 0.1083, 0.07463, 0.05454, 0.04111, 0.03321, 0.02578, 0.022, 0.01878, 0.01668, 0.01436, 0.01243, 0.01029, 0.008433, 0.006435, 0.004575, 0.002783, 0.003243},
	25: {2.499, 1.002, 0.4769, 0.2777, 0.1644, 0.1125, 0.07752, 0.05657, 0.04251, 0.03387, 0.02665, 0.02218, 0.01892, 0.01647, 0.01478, 0.0127, 0.01097, 0.009167, 0.007446, 0.005718, 0.00406, 0.002478, 0.002963},
	26: {2.598, 1.043, 0.4956, 0.2888, 0.1707, 0.1168, 0.08046, 0.05858, 0.04392, 0.03474, 0.02741, 0.02265, 0.019, 0.01646, 0.0148, 0.013, 0.01125, 0.009809, 0.008143, 0.006646, 0.005102, 0.00362, 0.002213, 0.002718},
	27: {2.698, 1.083, 0.5144, 0.2999, 0.1771, 0.121, 0.08343, 0.06063, 0.04533, 0.03588, 0.02793, 0.02326, 0.0193, 0.01647, 0.01468, 0.0132, 0.01151, 0.01012, 0.008749, 0.007265, 0.00595, 0.004574, 0.003238, 0.001988, 0.002502},
	28: {2.797, 1.123, 0.5332, 0.311, 0.1834, 0.1254, 0.08625, 0.06278, 0.04677, 0.03706, 0.02845, 0.02403, 0.01955, 0.01667, 0.01464, 0.01309, 0.01176, 0.01035, 0.009081, 0.007847, 0.00652, 0.005357, 0.004106, 0.002912, 0.001793, 0.00231},
	29: {2.897, 1.163, 0.552, 0.3221, 0.1898, 0.1298, 0.08914, 0.06492, 0.04824, 0.03825, 0.02924, 0.02439, 0.02018, 0.01678, 0.01477, 0.01295, 0.01184, 0.0105, 0.009371, 0.008145, 0.007092, 0.005866, 0.004834, 0.003702, 0.002631, 0.001621, 0.002138},
	30: {2.996, 1.203, 0.5708, 0.3333, 0.1961, 0.1342, 0.09202, 0.06709, 0.04968, 0.03949, 0.03005, 0.02481, 0.02079, 0.01709, 0.01479, 0.01307, 0.01167, 0.01068, 0.009468, 0.00846, 0.007332, 0.006449, 0.005303, 0.004364, 0.003354, 0.002385, 0.001472, 0.001986},
	31: {3.096, 1.243, 0.5896, 0.3444, 0.2025, 0.1386, 0.09497, 0.06917, 0.05123, 0.04067, 0.03091, 0.02546, 0.02109, 0.01759, 0.01499, 0.01302, 0.01177, 0.01051, 0.009656, 0.008614, 0.007654, 0.006662, 0.005838, 0.004812, 0.003971, 0.003044, 0.002167, 0.001339, 0.001848},
	32: {3.195, 1.283, 0.6084, 0.3555, 0.2089, 0.143, 0.09793, 0.07126, 0.05277, 0.04191, 0.03174, 0.02615, 0.02142, 0.0181, 0.01521, 0.01316, 0.01169, 0.01057, 0.009593, 0.008748, 0.007815, 0.006978, 0.006047, 0.005316, 0.004385, 0.003617, 0.002771, 0.001977, 0.001222, 0.001725},
}
