package env

import "strings"

// Vendors returns the names of the vendors that [Variables] knows, in order.
func Vendors() []string {
	return []string{
		"anthropic", "azure", "deepseek", "google", "groq", "lmstudio", "mistral", "moonshot", "ollama", "openai", "openrouter", "snowflake",
		"vllm", "xai",
	}
}

// Variables returns the environment variables without which From returns no provider of that name, as it stands before the
// slash of a model: {"OPENAI_API_KEY"} for "openai". It is nil if no variable makes From return one. Others may stand in
// their place, or change what the provider does; see [FromEnv].
func Variables(name string) []string {
	switch name {
	case "openai", "anthropic", "openrouter", "mistral", "groq", "deepseek", "xai", "moonshot":
		return []string{strings.ToUpper(name) + "_API_KEY"}
	case "google":
		return []string{"GEMINI_API_KEY"}
	case "azure":
		return []string{"AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"}
	case "snowflake":
		return []string{"SNOWFLAKE_TOKEN", "SNOWFLAKE_ACCOUNT"}
	case "ollama":
		return []string{"OLLAMA_HOST"}
	case "vllm", "lmstudio":
		return []string{strings.ToUpper(name) + "_BASE_URL"}
	default:
		return nil
	}
}

// Secrets returns the variables that hold a key or a token, of all vendors. A program that starts others keeps them from those.
func Secrets() []string {
	return []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY",
		"DEEPSEEK_API_KEY", "XAI_API_KEY", "MOONSHOT_API_KEY", "AZURE_OPENAI_API_KEY", "SNOWFLAKE_TOKEN", "OLLAMA_API_KEY", "VLLM_API_KEY",
		"LMSTUDIO_API_KEY",
	}
}
