package structured

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/printers"
)

// PrintFlags make printers. --template and --allow-missing-template-keys are kubectl's. The
// flag -o is the command's own, as it may have more formats than this package.
type PrintFlags struct {
	template     string
	allowMissing bool
	readFile     func(name string) ([]byte, error)
}

// NewFlags returns flags with their defaults. readFile reads the files that contain
// templates.
func NewFlags(readFile func(name string) ([]byte, error)) *PrintFlags {
	return &PrintFlags{allowMissing: true, readFile: readFile}
}

// Add adds the flags to a flag set.
func (f *PrintFlags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.template, "template", "", "Go template, or its file, for -o go-template and -o go-template-file.")
	flags.BoolVar(&f.allowMissing, "allow-missing-template-keys", true, "Ignore fields that a template names and the output lacks.")
}

// Template returns the value of --template.
func (f *PrintFlags) Template() string { return f.template }

const nameFormat = "name"

// The words of formats that take a template, in the two languages of templates.
var (
	paths     = []string{"jsonpath", "jsonpath-as-json", "jsonpath-file"}
	templates = []string{"go-template", "go-template-file", "template", "templatefile"}
)

// Usual are the formats that help names: the others are rare.
var Usual = []string{"json", "yaml", nameFormat, "jsonpath"}

// Formats returns the formats of ToPrinter, for help and errors. Those with a template may
// be followed by = and the template or its file.
func Formats() []string {
	return slices.Concat([]string{"json", "yaml", "kyaml", nameFormat}, paths, templates)
}

// ToPrinter returns the printer of a format. own are the formats of the command itself,
// which the error about an unknown one names. Like kubectl, it takes a template without a
// format for a go-template.
func (f *PrintFlags) ToPrinter(format string, own ...string) (*Printer, error) {
	if format == "" && f.template != "" {
		format = "go-template"
	}
	if format == nameFormat {
		return &Printer{format: nameFormat}, nil
	}
	if plain := encoder(strings.ToLower(format)); plain != nil {
		return &Printer{format: strings.ToLower(format), printer: plain}, nil
	}
	word, template := format, f.template
	if template == "" {
		word, template, _ = strings.Cut(format, "=")
	}
	if !slices.Contains(paths, word) && !slices.Contains(templates, word) {
		return nil, fmt.Errorf("%q is not an output format: choose one of %s", format, strings.Join(slices.Concat(own, Formats()), ", "))
	}
	printer, err := f.templated(word, template)
	if err != nil {
		return nil, fmt.Errorf("read -o %s: %w", word, err)
	}
	return &Printer{format: word, printer: printer, template: true}, nil
}

// encoder returns a printer that needs no template, or nil.
func encoder(format string) printers.ResourcePrinter {
	switch format {
	case "json":
		return &printers.JSONPrinter{}
	case "yaml":
		return &printers.YAMLPrinter{}
	case "kyaml":
		return &printers.KYAMLPrinter{}
	}
	return nil
}

func (f *PrintFlags) templated(word, template string) (printers.ResourcePrinter, error) {
	if template == "" {
		return nil, errors.New("template format specified but no template given")
	}
	if strings.HasSuffix(word, "file") {
		text, err := f.readFile(template)
		if err != nil {
			return nil, fmt.Errorf("error reading --template %s, %w", template, err)
		}
		template = string(text)
	}
	if slices.Contains(paths, word) {
		printer, err := printers.NewJSONPathPrinter(template)
		if err != nil {
			return nil, fmt.Errorf("error parsing jsonpath %s, %w", template, err)
		}
		printer.AllowMissingKeys(f.allowMissing)
		printer.EnableJSONOutput(word == "jsonpath-as-json")
		return printer, nil
	}
	printer, err := printers.NewGoTemplatePrinter([]byte(template))
	if err != nil {
		return nil, fmt.Errorf("error parsing template %s, %w", template, err)
	}
	printer.AllowMissingKeys(f.allowMissing)
	return printer, nil
}
