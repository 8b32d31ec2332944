package otel

import "strings"

// named divides "provider/model" and returns the provider's name in the conventions.
func (o *Observer) named(full string) (vendor, model string) {
	vendor, model, ok := strings.Cut(full, "/")
	if !ok {
		vendor, model = "", full
	}
	if name := o.Vendors[vendor]; name != "" {
		vendor = name
	} else {
		vendor = wellKnown(vendor)
	}
	return clean(vendor), clean(model)
}

// wellKnown returns the conventions' name of a vendor. A vendor that they do not list keeps its name.
func wellKnown(vendor string) string {
	switch vendor {
	case "mistral":
		return "mistral_ai"
	case "xai":
		return "x_ai"
	case "gemini":
		return "gcp.gemini"
	case "google":
		return "gcp.gen_ai"
	case "vertex":
		return "gcp.vertex_ai"
	case "bedrock":
		return "aws.bedrock"
	case "azure":
		return "azure.ai.openai"
	default:
		return vendor
	}
}
