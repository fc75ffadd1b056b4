package backup_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

func TestDir(t *testing.T) {
	tests := map[string]struct{ context, want string }{
		"a plain name":                    {"prod", "prod"},
		"what kubeadm writes":             {"kubernetes-admin@kubernetes", "kubernetes-admin@kubernetes"},
		"what GKE writes":                 {"gke_shop-1_europe-west1_main", "gke_shop-1_europe-west1_main"},
		"what EKS writes":                 {"arn:aws:eks:eu-west-1:123:cluster/main", "arn%3aaws%3aeks%3aeu-west-1%3a123%3acluster%2fmain"},
		"what OpenShift writes":           {"shop/api-example-com:6443/admin", "shop%2fapi-example-com%3a6443%2fadmin"},
		"capitals":                        {"Prod", "Prod%-5f56359ef193c076"},
		"the same name in other capitals": {"PROD", "PROD%-e3c834596d97a8cc"},
		"no context":                      {"", "%no-context"},
		"the folder itself":               {".", "%2e"},
		"the folder above":                {"..", "%2e%2e"},
		"a way out":                       {"../../etc", "%2e.%2f..%2fetc"},
		"a way out on Windows":            {`..\..\etc`, "%2e.%5c..%5cetc"},
		"an absolute path":                {"/etc", "%2fetc"},
		"a drive":                         {`c:\x`, "c%3a%5cx"},
		"a path relative to a drive":      {"c:x", "c%3ax"},
		"another machine":                 {`\\server\share`, "%5c%5cserver%5cshare"},
		"a verbatim Windows path":         {`\\?\c:\x`, "%5c%5c%3f%5cc%3a%5cx"},
		"a file stream":                   {"prod::$DATA", "prod%3a%3a%24DATA%-" + sum("prod::$DATA")},
		"a short Windows name":            {"PROGRA~1", "PROGRA%7e1%-" + sum("PROGRA~1")},
		"a pattern":                       {`<*?|">`, "%3c%2a%3f%7c%22%3e"},
		"a hidden file":                   {".ssh", "%2essh"},
		"a dot at the end":                {"prod.", "prod%2e"},
		"a space at the end":              {"prod ", "prod%20"},
		"a flag":                          {"-rf", "%2drf"},
		"a home folder":                   {"~root", "%7eroot"},
		"a variable":                      {"$HOME%PATH%", "%24HOME%25PATH%25%-1da01113ec5d1c2e"},
		"a device":                        {"con", "%63on"},
		"a device with an extension":      {"nul.tar.gz", "%6eul.tar.gz"},
		"a port":                          {"lpt1", "%6cpt1"},
		"a device in capitals":            {"AUX", "%41UX%-" + sum("AUX")},
		"a device and a space":            {"con .x", "con%20.x"},
		"a device and a dot":              {"prn.", "%70rn%2e"},
		"a console's input":               {"conin$", "conin%24"},
		"a port that is not ASCII":        {"com¹", "com%c2%b9"},
		"port zero":                       {"com0", "%63om0"},
		"not a port":                      {"com10", "com10"},
		"a device in a longer word":       {"console", "console"},
		"a device as an extension":        {"x.con", "x.con"},
		"a line break and an escape":      {"a\n\x1b[31m", "a%0a%1b%5b31m"},
		"a zero":                          {"a\x00b", "a%00b"},
		"letters outside ASCII":           {"pröd", "pr%c3%b6d"},
		"invalid UTF-8":                   {"\xff", "%ff"},
		"an encoded name":                 {"a%2fb", "a%252fb"},
		"a long name":                     {strings.Repeat("x", 5000), strings.Repeat("x", 100) + "%-c59d3c0480cc2d71"},
		"a long name cut within a letter": {strings.Repeat("x", 98) + "///", strings.Repeat("x", 98) + "%2%-4eb1189d50882f50"},
	}
	root := filepath.Join("home", "me", ".kube", "gc-backup")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := backup.Dir(root, test.context), filepath.Join(root, test.want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// sum returns the hash that distinguishes a name.
func sum(context string) string {
	full := sha256.Sum256([]byte(context))
	return hex.EncodeToString(full[:8])
}

// checkPortable returns why a name is not valid on every file system, or nil.
func checkPortable(name string) error {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	devices := []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}
	for n := range 10 {
		devices = append(devices, fmt.Sprintf("COM%d", n), fmt.Sprintf("LPT%d", n))
	}
	devices = append(devices, "COM¹", "COM²", "COM³", "LPT¹", "LPT²", "LPT³")
	switch {
	case name == "" || len(name) > 140:
		return fmt.Errorf("%d bytes", len(name))
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("a special character at an end")
	case slices.Contains(devices, strings.TrimRight(stem, " ")):
		return fmt.Errorf("a device")
	case strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`<>:"/\|?*~$&;'!()[]{}#=`+"`", r)
	}):
		return fmt.Errorf("a special character")
	case !filepath.IsLocal(name):
		return fmt.Errorf("it leaves the folder")
	}
	return nil
}

// context reverses Dir and reports whether the name was short enough for that.
func context(folder string) (string, bool) {
	if folder == "%no-context" {
		return "", true
	}
	folder, _, _ = strings.Cut(folder, "%-")
	if len(folder) > 96 {
		return "", false
	}
	var out strings.Builder
	for len(folder) > 0 {
		if folder[0] != '%' {
			out.WriteByte(folder[0])
			folder = folder[1:]
			continue
		}
		b, err := hex.DecodeString(folder[1:3])
		if err != nil {
			panic(err)
		}
		out.Write(b)
		folder = folder[3:]
	}
	return out.String(), true
}

func FuzzDir(f *testing.F) {
	for _, pair := range [][2]string{
		{"prod", "Prod"},
		{"", "%no-context"},
		{"..", "."},
		{"../../etc", "/"},
		{"a/b", "a%2fb"},
		{"con", "CON.x"},
		{"Prod", "Prod%-5f56359ef193c076"},
		{"a\x00\n", "ö\xff"},
		{"K", "\u212a"},
		{strings.Repeat("x", 101), strings.Repeat("x", 102)},
		{strings.Repeat("%", 40), strings.Repeat("/", 34)},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		root := filepath.Join("some", "root")
		dir := backup.Dir(root, one)
		if filepath.Dir(dir) != root {
			t.Fatalf("%q leads to %s", one, dir)
		}
		folder := filepath.Base(dir)
		if err := checkPortable(folder); err != nil {
			t.Errorf("%q gets folder %s: %v", one, folder, err)
		}
		if back, known := context(folder); known && back != one {
			t.Errorf("%q gets folder %s, which reads %q", one, folder, back)
		}
		if one != other && strings.EqualFold(dir, backup.Dir(root, other)) {
			t.Errorf("%q and %q share %s", one, other, dir)
		}
	})
}
