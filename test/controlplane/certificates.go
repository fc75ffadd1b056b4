package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The files that writeCertificates writes.
const (
	authorityFile      = "ca.crt"
	servingCertFile    = "serving.crt"
	servingKeyFile     = "serving.key"
	serviceAccountFile = "service-account.key"
)

// writeCertificates writes a certificate authority for this run, one certificate for all servers,
// and the key that signs service account tokens. It does not write the authority's key, as
// nothing else will be signed with it.
func writeCertificates(dir string, now time.Time) error {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	servingKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	accountKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}

	authority := certificate("kubectl-gc-test-ca", 1, now)
	authority.IsCA = true
	authority.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	serving := certificate("kubectl-gc-test", 2, now)
	serving.KeyUsage = x509.KeyUsageDigitalSignature
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	serving.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	serving.DNSNames = []string{"localhost"}

	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	servingDER, err := x509.CreateCertificate(rand.Reader, serving, authority, &servingKey.PublicKey, authorityKey)
	if err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	for name, block := range map[string]*pem.Block{
		authorityFile:      {Type: "CERTIFICATE", Bytes: authorityDER},
		servingCertFile:    {Type: "CERTIFICATE", Bytes: servingDER},
		servingKeyFile:     keyBlock(servingKey),
		serviceAccountFile: keyBlock(accountKey),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return fmt.Errorf("write certificates: %w", err)
		}
	}
	return nil
}

func certificate(name string, serial int64, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber:          big.NewInt(serial),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-time.Hour), // tolerates clocks that jump
		NotAfter:              now.AddDate(1, 0, 0),
		BasicConstraintsValid: true,
	}
}

func keyBlock(key *ecdsa.PrivateKey) *pem.Block {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err) // cannot fail for a curve of the standard library
	}
	return &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}
}
