// Parts of multipart bodies by Go's mime/multipart: parse.go FOLDER, which has N.type and N.body.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"path/filepath"
)

func octets(text string) []int {
	out := []int{}
	for i := 0; i < len(text); i++ {
		out = append(out, int(text[i]))
	}
	return out
}

func parts(kind string, body []byte) (any, error) {
	_, params, err := mime.ParseMediaType(kind)
	if err != nil {
		return nil, err
	}
	reader, found := multipart.NewReader(bytes.NewReader(body), params["boundary"]), []any{}
	for {
		part, err := reader.NextRawPart()
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil {
			return nil, err
		}
		one := map[string]any{"name": octets(params["name"]), "content": octets(string(content))}
		if name, given := params["filename"]; given {
			one["filename"] = octets(name)
		}
		if kind, given := part.Header["Content-Type"]; given {
			one["type"] = octets(kind[0])
		}
		found = append(found, one)
	}
}

func main() {
	bodies, _ := filepath.Glob(filepath.Join(os.Args[1], "*.body"))
	for number := range bodies {
		kind, _ := os.ReadFile(filepath.Join(os.Args[1], fmt.Sprintf("%d.type", number)))
		body, _ := os.ReadFile(filepath.Join(os.Args[1], fmt.Sprintf("%d.body", number)))
		var shown any
		shown, err := parts(string(kind), body)
		if err != nil {
			shown = err.Error()
		}
		text, _ := json.Marshal(shown)
		fmt.Println(string(text))
	}
}
