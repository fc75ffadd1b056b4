package cli

import (
	"strings"
	"testing"
)

func TestCheckWindowsPath(t *testing.T) {
	for name, test := range map[string]struct{ path, want string }{
		"a plain name":                        {"cluster.json.gz", ""},
		"a path on a drive":                   {`C:\Users\me\cluster.json`, ""},
		"slashes":                             {"c:/Users/me/cluster.json", ""},
		"relative to a drive":                 {"D:cluster.json", ""},
		"above the current folder of a drive": {`D:..\cluster.json`, ""},
		"a network share":                     {`\\server\share\cluster.json`, ""},
		"longer than 260 characters":          {`C:\` + strings.Repeat(`folder\`, 60) + "cluster.json", ""},
		"a verbatim path":                     {`\\?\C:\nul.json`, ""},
		"a verbatim path with slashes":        {"//?/C:/x.", ""},
		"a pipe":                              {`\\.\pipe\gc`, ""},
		"a device, like /dev/null":            {"NUL", ""},
		"a device with a colon":               {"nul:", ""},
		"a device in a folder":                {`C:\x\con`, ""},
		"the output of the console":           {"CONOUT$", ""},
		"a folder":                            {`C:\x\`, ""},
		"this folder":                         {".", ""},
		"the folder above":                    {`x\..`, ""},
		"a drive":                             {"C:", ""},
		"a device within a word":              {"console.json", ""},
		"a device as an extension":            {"x.nul", ""},
		"a hidden file":                       {".cluster.json", ""},
		"a space":                             {`C:\Program Files\a b.json`, ""},
		"letters of other languages":          {`C:\kühe\牛.json`, ""},
		"a colon in a folder":                 {`C:\a:b\cluster.json`, ""},
		"a device with an extension":          {"nul.json", `"nul.json" is the device NUL on Windows`},
		"a device with two extensions":        {`C:\x\Aux.json.gz`, `is the device AUX on Windows`},
		"a device and a space":                {"con .json", `is the device CON on Windows`},
		"a port":                              {"com1.json", `is the device COM1 on Windows`},
		"a port that is not ASCII":            {"lpt².json", `is the device LPT² on Windows`},
		"the console's input":                 {"conin$.json", `is the device CONIN$ on Windows`},
		"a time":                              {"cluster-2026-11-20T08:31:07Z.json", "contains a colon"},
		"what EKS calls a context":            {"arn:aws:eks:eu-west-1:123:cluster.json", "contains a colon"},
		"a file stream":                       {"cluster.json::$DATA", "contains a colon"},
		"a stream of a device":                {"nul:x", "contains a colon"},
		"a file that looks like a drive":      {`x\C:cluster.json`, "contains a colon"},
		"a URL":                               {"https://example.com/a:b.json", "contains a colon"},
		"a dot at the end":                    {"cluster.json.", "ends with a dot or a space"},
		"a space at the end":                  {"cluster.json.gz ", "ends with a dot or a space"},
		"only dots":                           {"...", "ends with a dot or a space"},
		"a pattern":                           {`C:\x\*.json`, `contains '*'`},
		"a question":                          {"really?.json", `contains '?'`},
		"a quote":                             {`C:\x".json`, `contains '"'`},
		"a line break":                        {"a\nb", `contains '\n'`},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkWindowsPath(test.path)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%q: got %v, want %q", test.path, err, test.want)
			}
		})
	}
}

func FuzzCheckWindowsPath(f *testing.F) {
	for _, path := range []string{"", "C:", `C:\nul.json`, "x:y", "a.", `\\?\x`, `\\server\share`, "ö", "\xff", "con", "COM1:", "\x00", "...", "./.."} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if err := checkWindowsPath(path); err != nil {
			return
		}
		// A valid name is valid in every folder.
		for _, folder := range []string{`C:\x\`, `x/`, `\\server\share\`} {
			if strings.ContainsAny(path, `:\/`) {
				break
			}
			if err := checkWindowsPath(folder + path); err != nil {
				t.Errorf("%q is valid, but not in %s: %v", path, folder, err)
			}
		}
	})
}
