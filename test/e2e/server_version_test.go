package e2e

import utilversion "k8s.io/apimachinery/pkg/util/version"

// serverBefore reports whether the API server is older than a minor version, such as 1.34.
func (s *scene) serverBefore(minor string) bool {
	s.Helper()
	info, err := s.discovery.ServerVersion()
	s.must(err)
	server, err := utilversion.ParseGeneric(info.GitVersion)
	s.must(err)
	return server.LessThan(utilversion.MustParseGeneric(minor))
}
