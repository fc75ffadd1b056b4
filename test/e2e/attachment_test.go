package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestExternalAttacher66AVolumeIsHeldByItsAttachment reads what a volume is attached by from whole objects.
func TestExternalAttacher66AVolumeIsHeldByItsAttachment(t *testing.T) {
	s := newScene(t)
	name := s.namespace("volume") // any unique name
	volume := s.create(newObject("v1", "PersistentVolume", "", name, heldBy("external-attacher/disk-example-com"), withField("spec", map[string]any{
		"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"},
		"csi": map[string]any{"driver": "disk.example.com", "volumeHandle": name}, "storageClassName": "none-" + name,
	})))
	s.create(newObject("storage.k8s.io/v1", "VolumeAttachment", "", "csi-"+name, withField("spec", map[string]any{
		"attacher": "disk.example.com", "nodeName": "worker-1", "source": map[string]any{"persistentVolumeName": name},
	})))
	s.remove(volume, metav1.DeletePropagationBackground)
	s.gc("why", "persistentvolume/"+name).exits(t, 0).shows(t, "VolumeAttachment/csi-"+name+": attaches it to a node, and has to go first", "kubectl gc why volumeattachment/csi-"+name)
	s.gc("stuck").exits(t, 0).shows(t, "VolumeAttachment/csi-"+name+": external-attacher/disk-example-com")
}
