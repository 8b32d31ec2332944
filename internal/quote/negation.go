package quote

import (
	"bytes"
	"strings"
)

// negated returns where the first word stands between two offsets that negates, or that allows nothing else; the offset to: there is none.
func (s *Source) negated(from, to int) int {
	for i := s.wordFrom(from); i < len(s.words) && int(s.words[i].at) < to; i++ {
		if w := s.words[i]; negates(string(s.text[w.at:w.end])) || negatesBefore(s.text[w.at:]) {
			return int(s.words[i].at)
		}
	}
	return to
}

// negates reports whether a word negates what it belongs to. It knows the words of the larger languages of Europe, and some others. No list
// has all, so that readers see what an ellipsis leaves out.
func negates(word string) bool {
	word = strings.ToLower(word)
	if strings.HasSuffix(word, "n't") || strings.HasPrefix(word, "non-") || strings.HasPrefix(word, "n'") ||
		strings.ContainsAny(word, negating+"否別别않없못") || strings.Contains(word, "아니") {
		return true
	}
	switch word {
	case "no", "not", "never", "none", "nor", "neither", "nobody", "nothing", "nowhere", "cannot", "without", "hardly", "scarcely", "barely",
		"rarely", "seldom", "unless", "except", "false", "falsely", "untrue", "deny", "denies", "denied", "anything", "far", "unlikely":
		return true
	case "nicht", "nichts", "nie", "niemals", "niemand", "kein", "keine", "keinen", "keinem", "keiner", "keines", "keinerlei", "weder", "ohne",
		"kaum", "nirgends", "niet", "niets", "nooit", "geen", "zonder", "nauwelijks", "inte", "icke", "ikke", "ej", "aldrig", "aldri",
		"ingen", "inget", "inga", "ingenting", "utan", "uten", "uden":
		return true
	case "ne", "pas", "jamais", "rien", "aucun", "aucune", "ni", "sans", "nul", "nulle", "guère", "nunca", "jamás", "nada", "nadie", "ningún",
		"ninguno", "ninguna", "sin", "tampoco", "non", "nulla", "niente", "nessun", "nessuno", "nessuna", "né", "senza", "neanche", "não",
		"ninguém", "nenhum", "nenhuma", "nem", "sem", "fără":
		return true
	case "nigdy", "nikt", "nic", "żaden", "żadna", "żadne", "bez", "ani", "nikdy", "nikdo", "žádný", "не", "нет", "ни", "никогда", "никто",
		"ничего", "нельзя", "без", "ні", "немає", "nincs", "soha", "değil", "yok", "hiç", "asla", "ei", "eivät", "δεν", "μην", "όχι", "ποτέ",
		"χωρίς", "لا", "لم", "لن", "ليس", "غير", "לא", "אין", "בלי", "नहीं", "안", "không", "chẳng", "tidak", "bukan", "tanpa":
		return true
	default:
		return false
	}
}

// negatesBefore reports whether a text begins with a negation in a script that puts no space between words.
func negatesBefore(rest []byte) bool {
	for _, begin := range []string{"ない", "なか", "なく", "ませ", "ずに", "ไม่"} {
		if bytes.HasPrefix(rest, []byte(begin)) {
			return true
		}
	}
	return false
}
