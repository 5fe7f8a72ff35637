package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/blang/semver/v4"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	listers "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	resolvercache "github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/solver"
	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/client"
	opregistry "github.com/operator-framework/operator-registry/pkg/registry"
)

// A property's value is its text: what is no JSON must be sayable too.
type property struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type bundle struct {
	Name         string     `json:"name"`
	Version      string     `json:"version"`
	Package      string     `json:"package"`
	Channel      string     `json:"channel"`
	Replaces     string     `json:"replaces"`
	Skips        []string   `json:"skips"`
	SkipRange    string     `json:"skipRange"`
	Properties   []property `json:"properties"`
	Dependencies []property `json:"dependencies"`
}

type catalog struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Priority  int               `json:"priority"`
	Error     string            `json:"error"`
	Bundles   []bundle          `json:"bundles"`
	Defaults  map[string]string `json:"defaults"` // default channels by package
}

type subscription struct {
	Name             string `json:"name"`
	Package          string `json:"package"`
	Channel          string `json:"channel"`
	StartingCSV      string `json:"startingCSV"`
	Catalog          string `json:"catalog"`
	CatalogNamespace string `json:"catalogNamespace"`
	InstalledCSV     string `json:"installedCSV"`
}

type existing struct {
	Name         string     `json:"name"`
	Version      string     `json:"version"`
	Properties   []property `json:"properties"`
	Subscription string     `json:"subscription"`
}

type resolution struct {
	Namespaces    []string       `json:"namespaces"`
	Catalogs      []catalog      `json:"catalogs"`
	Subscriptions []subscription `json:"subscriptions"`
	Existing      []existing     `json:"installed"`
}

type installed struct {
	Name     string `json:"name"`
	Channel  string `json:"channel"`
	Catalog  string `json:"catalog"`
	Replaces string `json:"replaces"`
}

// run resolves so many times, from the same catalogs.
func (r *resolution) run(times int) []outcome {
	subscriptions := r.subscriptions()
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	catalogs := resolvercache.New(r.sources(subscriptions, quiet), resolvercache.WithSourcePriorityProvider(r))
	var found []outcome
	for range times {
		found = append(found, outcomeOf(resolver.NewDefaultResolver(catalogs, quiet).Resolve(r.Namespaces, subscriptions)))
	}
	return found
}

func outcomeOf(entries []*resolvercache.Entry, err error) outcome {
	if err != nil {
		found := outcome{Kind: "InputError", Text: err.Error()}
		var unsatisfiable solver.NotSatisfiable
		if errors.As(err, &unsatisfiable) {
			found.Kind = "NotSatisfiable"
			for _, each := range unsatisfiable {
				found.Reasons = append(found.Reasons, each.String())
			}
		}
		return found
	}
	found := outcome{Installed: []installed{}}
	for _, each := range entries {
		source := each.SourceInfo
		found.Installed = append(found.Installed, installed{
			Name: each.Name, Channel: source.Channel, Catalog: source.Catalog.String(), Replaces: each.Replaces,
		})
	}
	return found
}

// Priority is asked by the cache.
func (r *resolution) Priority(key resolvercache.SourceKey) int {
	for _, each := range r.Catalogs {
		if each.Name == key.Name && each.Namespace == key.Namespace {
			return each.Priority
		}
	}
	return 0
}

func (r *resolution) subscriptions() []*v1alpha1.Subscription {
	var found []*v1alpha1.Subscription
	for _, each := range r.Subscriptions {
		found = append(found, &v1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: each.Name, Namespace: r.Namespaces[0]},
			Spec: &v1alpha1.SubscriptionSpec{
				Package:                each.Package,
				Channel:                each.Channel,
				StartingCSV:            each.StartingCSV,
				CatalogSource:          each.Catalog,
				CatalogSourceNamespace: each.CatalogNamespace,
			},
			Status: v1alpha1.SubscriptionStatus{InstalledCSV: each.InstalledCSV},
		})
	}
	return found
}

// sources are the catalogs by OLM's own registry source, and what is installed.
type sources struct {
	resolvercache.SourceProvider
	key      resolvercache.SourceKey
	existing *resolvercache.Snapshot
}

func (s *sources) Sources(namespaces ...string) map[resolvercache.SourceKey]resolvercache.Source {
	found := map[resolvercache.SourceKey]resolvercache.Source{}
	for key, each := range s.SourceProvider.Sources(namespaces...) {
		found[key] = each
	}
	found[s.key] = s.existing
	return found
}

func (r *resolution) sources(subscriptions []*v1alpha1.Subscription, quiet *logrus.Logger) *sources {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	clients := clients{}
	for place := range r.Catalogs {
		each := &r.Catalogs[place]
		_ = indexer.Add(&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Name: each.Name, Namespace: each.Namespace}})
		clients[registry.CatalogKey{Name: each.Name, Namespace: each.Namespace}] = &served{catalog: each}
	}
	return &sources{
		SourceProvider: resolver.SourceProviderFromRegistryClientProvider(
			clients, listers.NewCatalogSourceLister(indexer), quiet),
		key:      resolvercache.NewVirtualSourceKey(r.Namespaces[0]),
		existing: r.snapshot(subscriptions),
	}
}

// snapshot is what is installed, as the source of ClusterServiceVersions shows it.
func (r *resolution) snapshot(subscriptions []*v1alpha1.Subscription) *resolvercache.Snapshot {
	key := resolvercache.NewVirtualSourceKey(r.Namespaces[0])
	found := &resolvercache.Snapshot{Valid: make(chan struct{})}
	for _, each := range r.Existing {
		version, err := semver.ParseTolerant(each.Version)
		if err != nil {
			version = semver.Version{}
		}
		info := &resolvercache.OperatorSourceInfo{Catalog: key}
		for _, one := range subscriptions {
			if one.Name == each.Subscription {
				info.Subscription = one
			}
		}
		entry := &resolvercache.Entry{
			Name: each.Name, Version: &version, SourceInfo: info, Properties: properties(each.Properties),
		}
		for _, one := range entry.Properties {
			if one.Type == opregistry.PackageType {
				info.Package = packageName(one.Value, info.Package)
			}
		}
		found.Entries = append(found.Entries, entry)
	}
	return found
}

// packageName is the package that an olm.package property names; the one known before if it cannot be read.
func packageName(value, before string) string {
	var said opregistry.PackageProperty
	if err := json.Unmarshal([]byte(value), &said); err != nil {
		return before
	}
	return said.PackageName
}

func properties(given []property) []*api.Property {
	var found []*api.Property
	for _, each := range given {
		found = append(found, &api.Property{Type: each.Type, Value: each.Value})
	}
	return found
}

type clients map[registry.CatalogKey]client.Interface

func (c clients) ClientsForNamespaces(...string) map[registry.CatalogKey]client.Interface { return c }

// served is a registry that has one catalog; whatever else is asked of it is a mistake of this program.
type served struct {
	client.Interface
	catalog *catalog
	next    int
}

func (s *served) ListBundles(context.Context) (*client.BundleIterator, error) {
	if s.catalog.Error != "" {
		return nil, errors.New(s.catalog.Error)
	}
	s.next = 0
	return client.NewBundleIterator(s), nil
}

func (s *served) GetPackage(_ context.Context, name string) (*api.Package, error) {
	return &api.Package{Name: name, DefaultChannelName: s.catalog.Defaults[name]}, nil
}

func (s *served) HealthCheck(context.Context, time.Duration) (bool, error) { return true, nil }

func (s *served) Recv() (*api.Bundle, error) {
	if s.next == len(s.catalog.Bundles) {
		return nil, io.EOF
	}
	each := s.catalog.Bundles[s.next]
	s.next++
	found := &api.Bundle{
		CsvName: each.Name, PackageName: each.Package, ChannelName: each.Channel, Version: each.Version,
		Replaces: each.Replaces, Skips: each.Skips, SkipRange: each.SkipRange, BundlePath: fmt.Sprintf("image/%s", each.Name),
		Properties: properties(each.Properties),
	}
	for _, one := range each.Dependencies {
		found.Dependencies = append(found.Dependencies, &api.Dependency{Type: one.Type, Value: one.Value})
	}
	return found, nil
}
