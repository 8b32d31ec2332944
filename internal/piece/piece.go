// Package piece seals the pieces of text that engines publish on a chunk bus.
package piece

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
)

// Piece is text of one attempt at a call, or asks for such text. Without text it says how much of the attempt was published so far, and
// that the rest will be.
type Piece struct {
	Ask       bool // somebody has begun to read: the text so far is to be published again; nothing else is set
	Reasoning bool // the text is of the model's thoughts
	Call      string
	Attempt   int
	After     int64 // the number of the last event before the attempt's text began
	Offset    int   // of the text, in bytes; without text, how many bytes of the reply were published
	Parts     int   // how many chunks of the provider there were, up to the end of this text; without text, how many bytes of thoughts
	Text      string
}

const (
	version = 1

	flagAsk       = 1
	flagReasoning = 2

	// overhead is the most bytes that a sealed piece has beside its call and its text: version, flags, four numbers, the
	// length of the call, the nonce and the tag.
	overhead = 2 + 5*binary.MaxVarintLen64 + 12 + 16
)

// Overhead returns how many bytes a sealed piece of a call has at most beside its text.
func Overhead(call string) int { return overhead + len(call) }

// Asks is the topic of pieces that ask.
const Asks = "asks"

// Topic returns the topic of a conversation.
func Topic(id string) string {
	sum := sha256.Sum256([]byte("debate chunks " + id))
	return hex.EncodeToString(sum[:16])
}

// Key seals the pieces of one conversation. It is safe for concurrent use.
type Key struct {
	aead cipher.AEAD
	id   []byte
}

// NewKey returns the key of a conversation. secret is drawn from its seed. Conversations may share a seed, not an id.
func NewKey(secret [32]byte, id string) (*Key, error) {
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Key{aead, []byte(id)}, nil
}

// Seal returns a piece as it is published.
func (k *Key) Seal(p *Piece) []byte {
	return k.aead.Seal(nil, nil, encode(p), k.id) //nolint:gosec // this AEAD draws its nonces itself
}

var errForeign = errors.New("is no piece of this conversation")

// Open returns the piece that was sealed. The error means that it was not sealed with this key, or by a release that this one
// does not know.
func (k *Key) Open(sealed []byte) (Piece, error) {
	plain, err := k.aead.Open(nil, nil, sealed, k.id)
	if err != nil {
		return Piece{}, errForeign
	}
	return decode(plain)
}

// encode writes a piece: the version, the flags, the numbers as varints, the last of them the length of the call, then the call
// and the text.
func encode(p *Piece) []byte {
	plain := make([]byte, 0, Overhead(p.Call)+len(p.Text))
	var flags byte
	if p.Ask {
		flags |= flagAsk
	}
	if p.Reasoning {
		flags |= flagReasoning
	}
	plain = append(plain, version, flags)
	for _, n := range [...]int64{int64(p.Attempt), p.After, int64(p.Offset), int64(p.Parts), int64(len(p.Call))} {
		plain = binary.AppendUvarint(plain, uint64(max(0, n)))
	}
	return append(append(plain, p.Call...), p.Text...)
}

// decode reads what encode has written.
func decode(plain []byte) (Piece, error) {
	if len(plain) < 2 || plain[0] != version {
		return Piece{}, errForeign
	}
	p := Piece{Ask: plain[1]&flagAsk != 0, Reasoning: plain[1]&flagReasoning != 0}
	rest := plain[2:]
	var numbers [5]int64
	for i := range numbers {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > math.MaxInt64 || n > math.MaxInt32 && i != 1 {
			return Piece{}, errForeign
		}
		numbers[i], rest = int64(n), rest[size:]
	}
	if numbers[4] > int64(len(rest)) {
		return Piece{}, errForeign
	}
	p.Attempt, p.After, p.Offset, p.Parts = int(numbers[0]), numbers[1], int(numbers[2]), int(numbers[3])
	p.Call, p.Text = string(rest[:numbers[4]]), string(rest[numbers[4]:])
	return p, nil
}
