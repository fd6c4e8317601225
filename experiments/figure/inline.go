package figure

import (
	"html"
	"regexp"
	"strings"
)

// bodyAttribute is the attribute of an SVG in which Render leaves the height of the
// picture without its caption, in points.
const bodyAttribute = "data-body"

var (
	titleElement = regexp.MustCompile(`(?s)<title>(.*?)</title>\n?`)
	descElement  = regexp.MustCompile(`(?s)<desc>(.*?)</desc>\n?`)
	rootTag      = regexp.MustCompile(`(?s)<svg [^>]*>`)
	rootSize     = regexp.MustCompile(`(?:width|height)="[^"]*"\s*`)
	viewBox      = regexp.MustCompile(`viewBox="0 0 (\S+) \S+"`)
	body         = regexp.MustCompile(`\s*` + bodyAttribute + `="([^"]*)"`)
)

// Inline turns an SVG that Render made into an element of an HTML page, which sets
// title and caption itself, in letters of its own size: the title goes (it would be a
// tooltip over the whole picture), the caption is cropped off, and so are the fixed
// size and what only a file of its own needs.
func Inline(svg []byte) (element, title, caption string) {
	s := string(svg)
	if i := strings.Index(s, "<svg "); i > 0 {
		s = s[i:]
	}
	if m := titleElement.FindStringSubmatch(s); m != nil {
		title = html.UnescapeString(m[1])
		s = strings.Replace(s, m[0], "", 1)
	}
	if m := descElement.FindStringSubmatch(s); m != nil {
		caption = html.UnescapeString(m[1])
		s = strings.Replace(s, m[0], "", 1)
	}
	root := rootTag.FindString(s)
	plain := rootSize.ReplaceAllString(root, "")
	if m := body.FindStringSubmatch(plain); m != nil && caption != "" {
		plain = viewBox.ReplaceAllString(plain, `viewBox="0 0 $1 `+m[1]+`"`)
	}
	plain = body.ReplaceAllString(plain, "")
	plain = strings.Replace(plain, "<svg ", `<svg role="img" aria-label="`+html.EscapeString(title)+`" `, 1)
	return strings.Replace(s, root, plain, 1), title, caption
}
