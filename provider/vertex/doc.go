// Package vertex reaches Gemini and Claude on Google Cloud's Vertex AI.
//
//	p, err := vertex.Default(ctx) // application default credentials
//
//	token, err := vertex.ServiceAccount(key) // the JSON key of a service account
//	p := vertex.New("debates", "europe-west4", token)
//
// Requests and replies are those of packages google and anthropic, whose documentation holds here too. What
// differs:
//
//   - Requests carry an access token (Authorization: Bearer), which the official auth library fetches and
//     renews before it expires. Neither token nor private key is in an error or a log.
//   - Gemini is asked at …/publishers/google/models/{model}:streamGenerateContent (v1beta1), Claude at
//     …/publishers/anthropic/models/{model}:streamRawPredict (vertex-2023-10-16).
//   - Signatures of Gemini's thoughts go back to Vertex AI only. Those of Claude's are valid at Anthropic too,
//     as Anthropic documents it.
//
// The embedded table of models has no rows for Vertex AI, whose prices depend on the location: the engine
// gets prices and sizes from its Models. The name of a model is that of Vertex AI:
// "vertex/gemini-2.5-flash", "vertex/claude-sonnet-4-5@20250929".
//
// # Failures
//
// Beside those of the adapters: credentials that are refused (invalid_grant, a key of another type) have
// kind authentication. If the server that gives the tokens cannot be reached, is slow or fails, the kind is
// network, timeout, rate_limit or api_error, and the engine tries again. Such failures are NotSent.
package vertex
