package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fault is an error as a server told it, in whichever of the many shapes.
type fault struct {
	status  int
	code    string
	kind    string // the server's own type
	param   string
	message string
	// retry is the wait named in the error itself, as written: "45s".
	retry string
	// generation is what the model wrote and the server could not read.
	generation string
	page       bool // the message tells of a web page
	silent     bool // the server said nothing
}

// parseFault reads an error body or frame. It reports false for what does not look like an error.
func parseFault(body []byte) (fault, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return fault{}, false
	}
	return faultOf(value)
}

func faultOf(value any) (fault, bool) {
	switch v := value.(type) {
	case string:
		return fault{message: v}, true
	case []any:
		for _, element := range v {
			if f, ok := faultOf(element); ok {
				return f, true
			}
		}
	case map[string]any:
		return faultOfObject(v)
	}
	return fault{}, false
}

func faultOfObject(object map[string]any) (fault, bool) {
	switch inner := object["error"].(type) {
	case map[string]any:
		f := fieldsOf(inner)
		if f.code == "" {
			f.code = plain(object["code"])
		}
		return f, true
	case string:
		if inner != "" {
			f := fieldsOf(object)
			f.message = inner
			if told := plain(object["message"]); told != "" && told != inner {
				f.message += ": " + told
			}
			return f, true
		}
	case []any:
		if f, ok := faultOf(inner); ok {
			return f, true
		}
	case json.Number:
		f := fieldsOf(object)
		if f.code == "" {
			f.code = inner.String()
		}
		return f, true
	case bool:
		if inner {
			return fieldsOf(object), true
		}
	}
	if list, ok := object["errors"].([]any); ok && len(list) > 0 {
		return faultOf(list)
	}
	if plain(object["object"]) == "error" || object["type"] == "error" {
		return fieldsOf(object), true
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] != nil && name != "error" && name != "errors" && strings.HasPrefix(strings.ToLower(name), "error") {
			f := fieldsOf(object)
			if f.message == "" {
				f.message = name + ": " + plain(object[name])
			}
			return f, true
		}
	}
	_, hasMessage := object["message"].(string)
	if object["detail"] != nil || hasMessage {
		return fieldsOf(object), true
	}
	return fault{}, false
}

// fieldsOf takes the usual fields from an error object.
func fieldsOf(object map[string]any) fault {
	f := fault{
		code: plain(object["code"]), kind: plain(object["type"]), param: plain(object["param"]),
		message: plain(object["message"]), generation: plain(object["failed_generation"]),
	}
	if f.code == "" || f.code == "0" {
		f.code = ""
		if status, ok := object["status"].(string); ok {
			f.code = status
		}
	} else if status, ok := object["status"].(string); ok && f.kind == "" {
		f.kind = status
	}
	if f.message == "" {
		f.message = plain(object["detail"])
	}
	if f.message == "" {
		f.message = plain(object["error_description"])
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		if raw := plain(metadata["raw"]); raw != "" && raw != f.message {
			f.message = strings.TrimSpace(f.message + ": " + raw)
		}
	}
	if details, ok := object["details"].([]any); ok {
		for _, detail := range details {
			if d, ok := detail.(map[string]any); ok && f.retry == "" {
				f.retry = plain(d["retryDelay"])
			}
		}
	}
	if inner, ok := object["innererror"].(map[string]any); ok && f.code == "" {
		f.code = plain(inner["code"])
	}
	return f
}

// plain is a JSON value as text: null is nothing, a list of validation messages is its messages.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	case []any:
		var parts []string
		for _, element := range v {
			if object, ok := element.(map[string]any); ok && object["msg"] != nil {
				place := strings.Trim(strings.ReplaceAll(plain(object["loc"]), ", ", "."), ".")
				parts = append(parts, strings.TrimPrefix(place+": "+plain(object["msg"]), ": "))
				continue
			}
			parts = append(parts, plain(element))
		}
		return strings.Join(parts, ", ")
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	}
}
