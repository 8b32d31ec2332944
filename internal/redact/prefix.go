package redact

import "strings"

// prefixes are the beginnings of vendors' keys. They are public: each key of the vendor has the same. Where one begins
// another, the longest counts. Sources: the vendors' documentation, and the rules of public secret scanners
// (gitleaks, trufflehog), 2025.
//
//nolint:gochecknoglobals // read only
var prefixes = []string{
	"sk-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", // OpenAI; sk- alone is used by DeepSeek, Moonshot and others too
	"sk-ant-", "sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-", // Anthropic
	"sk-or-", "sk-or-v1-", // OpenRouter
	"AIza", "AIzaSy", "AQ.", "ya29.", // Google
	"gsk_",                                     // Groq
	"xai-",                                     // xAI
	"nvapi-",                                   // NVIDIA
	"hf_",                                      // Hugging Face
	"pplx-",                                    // Perplexity
	"r8_",                                      // Replicate
	"csk-",                                     // Cerebras
	"fw_",                                      // Fireworks
	"tgp_v1_",                                  // Together
	"AKIA", "ASIA", "ABSK", "bedrock-api-key-", // AWS
	"ghp_", "gho_", "ghs_", "ghu_", "github_pat_", // GitHub Models
	"dapi",    // Databricks
	"Bearer ", // a header's value
}

// shownPrefixes are those of them that no ordinary word has: what follows them is taken for a key.
//
//nolint:gochecknoglobals // read only
var shownPrefixes = []string{
	"sk-", "AIza", "ya29.", "gsk_", "xai-", "nvapi-", "hf_", "pplx-", "r8_", "csk-", "tgp_v1_", "AKIA", "ASIA", "ABSK", "ghp_", "gho_",
	"ghs_", "ghu_",
}

// public returns the length of a key's public prefix.
func public(key string) int {
	n := tokenHeader(key)
	for _, prefix := range prefixes {
		if strings.HasPrefix(key, prefix) {
			n = max(n, len(prefix))
		}
	}
	return n
}

// tokenHeader returns the length of the header of a JSON Web Token, which names only an algorithm; 0: the key is none.
func tokenHeader(key string) int {
	if !strings.HasPrefix(key, "eyJ") || strings.Count(key, ".") != 2 {
		return 0
	}
	return strings.Index(key, ".") + 1
}
