package main

import (
	"strconv"
	"time"
)

// document is an SBOM as SPDX 2.3 defines it: https://spdx.github.io/spdx-spec/v2.3/.
type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []pkg          `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  time.Time `json:"created"`
	Creators []string  `json:"creators"`
}

type pkg struct {
	Name             string      `json:"name"`
	SPDXID           string      `json:"SPDXID"`
	VersionInfo      string      `json:"versionInfo"`
	PackageFileName  string      `json:"packageFileName,omitempty"`
	Supplier         string      `json:"supplier"`
	DownloadLocation string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	Checksums        []checksum  `json:"checksums,omitempty"`
	SourceInfo       string      `json:"sourceInfo,omitempty"`
	LicenseConcluded string      `json:"licenseConcluded"`
	LicenseDeclared  string      `json:"licenseDeclared"`
	CopyrightText    string      `json:"copyrightText"`
	ExternalRefs     []reference `json:"externalRefs"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	documentID  = "SPDXRef-DOCUMENT"
	programID   = "SPDXRef-program"
	noAssertion = "NOASSERTION" // the licences of modules were not examined
	home        = "https://github.com/kubectl-gc/kubectl-gc"
	projectPURL = "pkg:golang/github.com/kubectl-gc/kubectl-gc@"
)

// newDocument describes a program of a version, with its SHA-256. Its namespace is unique
// because it contains that checksum.
func newDocument(name, program, version, sum string, at time.Time) *document {
	d := &document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: documentID, Name: name,
		DocumentNamespace: home + "/spdx/" + name + "/" + sum,
		CreationInfo:      creation{at.UTC(), []string{"Organization: kubectl-gc", "Tool: kubectl-gc-dist"}},
	}
	d.add(pkg{
		SPDXID: programID, Name: "kubectl-gc", VersionInfo: version, PackageFileName: program,
		Supplier: "Organization: kubectl-gc", DownloadLocation: home + "/releases/tag/" + version,
		Checksums:       []checksum{{"SHA256", sum}},
		LicenseDeclared: "Apache-2.0",
		ExternalRefs:    []reference{{"PACKAGE-MANAGER", "purl", projectPURL + version}},
	})
	d.Relationships = append(d.Relationships, relationship{documentID, "DESCRIBES", programID})
	return d
}

// contain adds something that the program contains.
func (d *document) contain(p pkg) {
	p.SPDXID = "SPDXRef-" + strconv.Itoa(len(d.Packages))
	d.add(p)
	d.Relationships = append(d.Relationships, relationship{programID, "CONTAINS", p.SPDXID})
}

func (d *document) add(p pkg) {
	for _, field := range []*string{&p.Supplier, &p.LicenseConcluded, &p.LicenseDeclared, &p.CopyrightText} {
		if *field == "" {
			*field = noAssertion
		}
	}
	d.Packages = append(d.Packages, p)
}
