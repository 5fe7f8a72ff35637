// A small program on client-go, for the matrix of clients: it does everything once against the server of a kubeconfig
// and writes a line of JSON per verb, with what went wrong, or nothing.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	own      = "client-go"
	place    = "default"
	patience = 30 * time.Second
)

type tried struct {
	typed   *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
	plain   *rest.Config
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config.UserAgent = own
	// As controllers are set up: built-in kinds in protobuf, JSON only as the second choice.
	packed := rest.CopyConfig(config)
	packed.ContentType = "application/vnd.kubernetes.protobuf"
	packed.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	each := tried{kubernetes.NewForConfigOrDie(packed), dynamic.NewForConfigOrDie(config), config}
	for _, verb := range []struct {
		name string
		work func(context.Context) error
	}{
		{"version", each.version},
		{"discover", each.discover},
		{"create", each.create},
		{"get", each.get},
		{"list", each.list},
		{"update", each.update},
		{"patch", each.patch},
		{"apply", each.apply},
		{"watch", each.watch},
		{"delete", each.delete},
		{"custom", each.custom},
		{"events", each.events},
		{"certificate", each.certificate},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		said := map[string]string{"verb": verb.name, "error": ""}
		if err := verb.work(ctx); err != nil {
			said["error"] = err.Error()
		}
		cancel()
		line, _ := json.Marshal(said)
		fmt.Println(string(line))
	}
}

func (t tried) version(context.Context) error {
	found, err := t.typed.Discovery().ServerVersion()
	if err == nil && found.Major != "1" {
		err = fmt.Errorf("version %v", found)
	}
	return err
}

func (t tried) discover(context.Context) error {
	_, lists, err := t.typed.Discovery().ServerGroupsAndResources()
	if err != nil {
		return err
	}
	for _, list := range lists {
		for _, kind := range list.APIResources {
			if kind.Name == "placements" {
				return nil
			}
		}
	}
	return errors.New("no placements among the kinds")
}

func configMap(name string) *corev1.ConfigMap {
	labels := map[string]string{"client": own}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"a": "1"}}
}

func (t tried) create(ctx context.Context) error {
	_, err := t.typed.CoreV1().ConfigMaps(place).Create(ctx, configMap(own), metav1.CreateOptions{})
	return err
}

func (t tried) get(ctx context.Context) error {
	found, err := t.typed.CoreV1().ConfigMaps(place).Get(ctx, own, metav1.GetOptions{})
	if err == nil && found.Data["a"] != "1" {
		err = fmt.Errorf("data %v", found.Data)
	}
	if err != nil {
		return err
	}
	// And as a client that reads nothing but protobuf.
	only := rest.CopyConfig(t.plain)
	only.ContentType = "application/vnd.kubernetes.protobuf"
	only.AcceptContentTypes = "application/vnd.kubernetes.protobuf"
	packed, err := kubernetes.NewForConfig(only)
	if err != nil {
		return err
	}
	again, err := packed.CoreV1().ConfigMaps(place).Get(ctx, own, metav1.GetOptions{})
	if err == nil && !equality.Semantic.DeepEqual(found.ObjectMeta, again.ObjectMeta) {
		err = fmt.Errorf("in protobuf it is %v", again.ObjectMeta)
	}
	if err == nil {
		_, err = packed.CoreV1().ConfigMaps(place).Get(ctx, "no-such", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			err = nil
		}
	}
	return err
}

func (t tried) list(ctx context.Context) error {
	count, options := 0, metav1.ListOptions{LabelSelector: "client=" + own, Limit: 1}
	for {
		page, err := t.typed.CoreV1().ConfigMaps(place).List(ctx, options)
		if err != nil {
			return err
		}
		count += len(page.Items)
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if count != 1 {
		return fmt.Errorf("%d objects", count)
	}
	return nil
}

func (t tried) update(ctx context.Context) error {
	found, err := t.typed.CoreV1().ConfigMaps(place).Get(ctx, own, metav1.GetOptions{})
	if err != nil {
		return err
	}
	stale := found.DeepCopy()
	found.Data["a"] = "2"
	if _, err := t.typed.CoreV1().ConfigMaps(place).Update(ctx, found, metav1.UpdateOptions{}); err != nil {
		return err
	}
	stale.Data["a"] = "3"
	_, err = t.typed.CoreV1().ConfigMaps(place).Update(ctx, stale, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("a stale update: %v", err)
	}
	return nil
}

func (t tried) patch(ctx context.Context) error {
	for kind, patch := range map[types.PatchType]string{
		types.MergePatchType:          `{"data":{"b":"1"}}`,
		types.StrategicMergePatchType: `{"data":{"c":"1"}}`,
		types.JSONPatchType:           `[{"op":"add","path":"/data/d","value":"1"}]`,
	} {
		if _, err := t.typed.CoreV1().ConfigMaps(place).Patch(ctx, own, kind, []byte(patch), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

func (t tried) apply(ctx context.Context) error {
	wanted := applycorev1.ConfigMap(own+"-applied", place).WithData(map[string]string{"a": "1"})
	maps := t.typed.CoreV1().ConfigMaps(place)
	if _, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	wanted.WithData(map[string]string{"a": "2"})
	_, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("another manager's field: %v", err)
	}
	found, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err == nil && found.Data["a"] != "2" {
		err = fmt.Errorf("data %v", found.Data)
	}
	return err
}

// An informer of typed objects and one of custom objects: both fill, and both see what comes later.
func (t tried) watch(ctx context.Context) error {
	seen := make(chan string, 100)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { seen <- obj.(metav1.Object).GetName() },
		UpdateFunc: func(_, obj any) { seen <- obj.(metav1.Object).GetName() },
	}
	typed := informers.NewSharedInformerFactoryWithOptions(t.typed, 0, informers.WithNamespace(place))
	maps := typed.Core().V1().ConfigMaps().Informer()
	custom := dynamicinformer.NewDynamicSharedInformerFactory(t.dynamic, 0)
	clusters := custom.ForResource(clusterKind).Informer()
	for _, informer := range []cache.SharedIndexInformer{maps, clusters} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	typed.Start(ctx.Done())
	custom.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), maps.HasSynced, clusters.HasSynced) {
		return errors.New("the informers did not fill")
	}
	if _, err := t.typed.CoreV1().ConfigMaps(place).Create(ctx, configMap(own+"-late"), metav1.CreateOptions{}); err != nil {
		return err
	}
	for {
		select {
		case name := <-seen:
			if name == own+"-late" {
				return nil
			}
		case <-ctx.Done():
			return errors.New("the informer did not see what came later")
		}
	}
}

func (t tried) delete(ctx context.Context) error {
	maps := t.typed.CoreV1().ConfigMaps(place)
	if err := maps.Delete(ctx, own, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "client=" + own})
}

var clusterKind = schema.GroupVersionResource{
	Group: "cluster.open-cluster-management.io", Version: "v1", Resource: "managedclusters",
}

func (t tried) custom(ctx context.Context) error {
	cluster := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": clusterKind.GroupVersion().String(),
		"kind":       "ManagedCluster",
		"metadata":   map[string]any{"name": own},
		"spec":       map[string]any{"hubAcceptsClient": true},
	}}
	clusters := t.dynamic.Resource(clusterKind)
	if _, err := clusters.Apply(ctx, own, cluster, metav1.ApplyOptions{FieldManager: own}); err != nil {
		return err
	}
	return clusters.Delete(ctx, own, metav1.DeleteOptions{})
}

func (t tried) events(ctx context.Context) error {
	event := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: own},
		EventTime:           metav1.NowMicro(),
		ReportingController: "example.com/" + own,
		ReportingInstance:   own,
		Action:              "Trying",
		Reason:              "Matrix",
		Type:                corev1.EventTypeNormal,
		Note:                "a note",
		Regarding:           corev1.ObjectReference{Kind: "ConfigMap", Name: own, Namespace: place},
	}
	if _, err := t.typed.EventsV1().Events(place).Create(ctx, event, metav1.CreateOptions{}); err != nil {
		return err
	}
	series := []byte(`{"series":{"count":2,"lastObservedTime":"2026-11-01T12:00:00.000000Z"}}`)
	if _, err := t.typed.EventsV1().Events(place).Patch(ctx, own, types.StrategicMergePatchType, series, metav1.PatchOptions{}); err != nil {
		return err
	}
	found, err := t.typed.CoreV1().Events(place).Get(ctx, own, metav1.GetOptions{})
	if err == nil && (found.Message != "a note" || found.Series == nil || found.Series.Count != 2) {
		err = fmt.Errorf("event %v", found)
	}
	return err
}

func (t tried) certificate(ctx context.Context) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: own, Organization: []string{"matrix"}}}
	content, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE REQUEST", Bytes: content}); err != nil {
		return err
	}
	requests := t.typed.CertificatesV1().CertificateSigningRequests()
	request, err := requests.Create(ctx, &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: own},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    text.Bytes(),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{
		{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Matrix"},
	}
	if _, err := requests.UpdateApproval(ctx, own, request, metav1.UpdateOptions{}); err != nil {
		return err
	}
	for {
		found, err := requests.Get(ctx, own, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(found.Status.Certificate) > 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}
