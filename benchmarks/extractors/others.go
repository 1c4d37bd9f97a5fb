// Articles by go-readability, for benchmarks/reading.py: a line of JSON in, one out.
package main

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"codeberg.org/readeck/go-readability/v2"
)

type asked struct{ Html, Url string }

type answer struct {
	Html   string  `json:"html"`
	Title  string  `json:"title"`
	Author string  `json:"author"`
	Date   string  `json:"date"`
	Ms     float64 `json:"ms"`
}

func read(page asked) (found answer) {
	address, _ := url.Parse(page.Url)
	article, err := readability.FromReader(strings.NewReader(page.Html), address)
	if err != nil || article.Node == nil {
		return
	}
	var html strings.Builder
	article.RenderHTML(&html)
	found = answer{Html: html.String(), Title: article.Title(), Author: article.Byline()}
	if published, err := article.PublishedTime(); err == nil {
		found.Date = published.Format(time.RFC3339)
	}
	return
}

func cpu() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var page asked
		json.Unmarshal(line, &page)
		begun := cpu()
		found := read(page)
		found.Ms = cpu() - begun
		answers.Encode(found)
	}
}
