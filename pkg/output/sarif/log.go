package sarif

// The elements of SARIF 2.1.0 that are written here, as its section 3 names them.

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    [1]struct {
		Tool struct {
			Driver struct {
				Name           string       `json:"name"`
				Version        string       `json:"version,omitempty"`
				InformationURI string       `json:"informationUri"`
				Rules          []descriptor `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Invocations [1]invocation `json:"invocations"`
		Results     []result      `json:"results"`
	} `json:"runs"`
}

type descriptor struct {
	ID               string  `json:"id"`
	ShortDescription message `json:"shortDescription"`
	FullDescription  message `json:"fullDescription"`
	Help             message `json:"help"`
	HelpURI          string  `json:"helpUri"`
}

type message struct {
	Text string `json:"text"`
}

type invocation struct {
	ExecutionSuccessful        bool           `json:"executionSuccessful"`
	ToolExecutionNotifications []notification `json:"toolExecutionNotifications,omitempty"`
}

type notification struct {
	Level   string  `json:"level"`
	Message message `json:"message"`
}

type result struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             message           `json:"message"`
	Locations           []location        `json:"locations"`
	RelatedLocations    []location        `json:"relatedLocations,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
	Properties          properties        `json:"properties"`
}

type location struct {
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	} `json:"physicalLocation"`
	LogicalLocations [1]struct {
		Name               string `json:"name"`
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	} `json:"logicalLocations"`
}

// properties are fields of the JSON report for which SARIF has no element.
type properties struct {
	Cluster     string `json:"cluster,omitempty"`
	APIVersion  string `json:"apiVersion"`
	UID         string `json:"uid"`
	Verdict     string `json:"verdict,omitempty"`
	Consequence string `json:"consequence"`
	Fix         string `json:"fix"`
}
