package machine

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// Flags make printers. Those that a command offers, --template and
// --allow-missing-template-keys, are kubectl's: AddFlags adds them. -o is the
// command's own, which may know more formats than this package.
type Flags struct {
	*genericclioptions.KubeTemplatePrintFlags
	encoding *genericclioptions.JSONYamlPrintFlags
}

// NewFlags answers flags at their defaults.
func NewFlags() *Flags {
	return &Flags{
		KubeTemplatePrintFlags: genericclioptions.NewKubeTemplatePrintFlags(),
		// Our documents have no managed fields, so none need to be left out.
		encoding: &genericclioptions.JSONYamlPrintFlags{ShowManagedFields: true},
	}
}

// AllowedFormats are Formats.
func (f *Flags) AllowedFormats() []string { return Formats() }

// Formats are the words that ToPrinter takes, for help and errors. Those of
// templates and jsonpath may be followed by = and the template or file.
func Formats() []string {
	f := NewFlags()
	return slices.Concat(f.encoding.AllowedFormats(), []string{nameFormat}, f.JSONPathPrintFlags.AllowedFormats(), f.GoTemplatePrintFlags.AllowedFormats())
}

const nameFormat = "name"

// UnknownFormat says that a format is none of those allowed.
type UnknownFormat struct {
	Format  string
	Allowed []string
}

func (e *UnknownFormat) Error() string {
	return fmt.Sprintf("%q is not an output format: choose one of %s", e.Format, strings.Join(e.Allowed, ", "))
}

// ToPrinter answers the printer of a format. The command's own formats, which
// it does not know, are only named in its *UnknownFormat error. Like kubectl it
// takes a template without a format for a go-template.
func (f *Flags) ToPrinter(format string, own ...string) (*Printer, error) {
	if format == "" && *f.TemplateArgument != "" {
		format = "go-template"
	}
	if format == nameFormat {
		return &Printer{format: nameFormat}, nil
	}
	word, _, _ := strings.Cut(format, "=")
	encoder, err := f.encoding.ToPrinter(format)
	if err == nil {
		return &Printer{format: strings.ToLower(word), printer: encoder}, nil
	}
	template, err := f.KubeTemplatePrintFlags.ToPrinter(format)
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, &UnknownFormat{Format: format, Allowed: slices.Concat(own, Formats())}
	}
	if err != nil {
		return nil, fmt.Errorf("read -o %s: %w", word, err)
	}
	return &Printer{format: word, printer: template, template: true}, nil
}
