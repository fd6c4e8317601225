package figure

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A figure in a page has its title and caption as text of the page, no size of its
// own, and is as high as the picture without the caption.
func TestInline(t *testing.T) {
	c := fprVsLoad()
	c.Title, c.Caption = "More & more", "n < 10 keys. "+strings.Repeat("A caption that takes several lines. ", 11)+"End."
	svg, err := Render(c, "svg")
	if err != nil {
		t.Fatal(err)
	}
	element, title, caption := Inline(svg)
	if title != c.Title || caption != c.Caption {
		t.Errorf("title %q, caption %q", title, caption)
	}
	root, _, _ := strings.Cut(element, ">")
	if !strings.HasPrefix(root, `<svg role="img" aria-label="More &amp; more"`) || strings.Contains(root, "width=") || strings.Contains(root, bodyAttribute) {
		t.Errorf("the element begins with %s", root)
	}
	// 3.4 inches are 244.8 points.
	if !strings.HasSuffix(viewBox.FindString(root), ` 244.8"`) {
		t.Errorf("%s is not 244.8 points high", root)
	}
	if strings.Contains(element, "<?xml") || strings.Contains(element, "<title>") || strings.Contains(element, "<desc>") {
		t.Error("prolog, title or description are left")
	}
	for d := xml.NewDecoder(strings.NewReader(element)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
	// Without a caption nothing is cropped.
	c.Caption = ""
	if svg, err = Render(c, "svg"); err != nil {
		t.Fatal(err)
	}
	whole, _, caption := Inline(svg)
	if caption != "" || viewBox.FindString(whole) != viewBox.FindString(string(svg)) {
		t.Errorf("caption %q, %s", caption, viewBox.FindString(whole))
	}
}
