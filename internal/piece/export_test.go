package piece

// Encode and Decode are exported for their test: no stranger can seal what they would have to read.
var (
	Encode = encode
	Decode = decode
)
