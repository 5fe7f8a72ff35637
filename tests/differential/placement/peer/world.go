package main

import (
	"context"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	"open-cluster-management.io/api/client/cluster/clientset/versioned/fake"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"open-cluster-management.io/sdk-go/pkg/basecontroller/factory"

	"open-cluster-management.io/ocm/pkg/placement/controllers/framework"
	"open-cluster-management.io/ocm/pkg/placement/controllers/metrics"
	"open-cluster-management.io/ocm/pkg/placement/controllers/scheduling"
	"open-cluster-management.io/ocm/pkg/placement/plugins"
	"open-cluster-management.io/ocm/pkg/placement/plugins/addon"
	"open-cluster-management.io/ocm/pkg/placement/plugins/tainttoleration"
)

type question struct {
	Now       time.Time                                  `json:"now"`
	Clusters  []*clusterv1.ManagedCluster                `json:"clusters"`
	Sets      []*clusterv1beta2.ManagedClusterSet        `json:"clusterSets"`
	Bindings  []*clusterv1beta2.ManagedClusterSetBinding `json:"clusterSetBindings"`
	Scores    []*clusterv1alpha1.AddOnPlacementScore     `json:"addOnPlacementScores"`
	Decisions []*clusterv1beta1.PlacementDecision        `json:"placementDecisions"`
	Placement *clusterv1beta1.Placement                  `json:"placement"`
}

type page struct {
	Name       string   `json:"name"`
	GroupName  string   `json:"groupName"`
	GroupIndex string   `json:"groupIndex"`
	Clusters   []string `json:"clusters"`
}

type condition struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type answer struct {
	Decisions      []page                               `json:"decisions"`
	Selected       int32                                `json:"numberOfSelectedClusters"`
	Groups         []clusterv1beta1.DecisionGroupStatus `json:"decisionGroups"`
	Conditions     map[string]condition                 `json:"conditions"`
	Filters        []scheduling.FilterResult            `json:"filterResults"`
	Prioritizers   []scheduling.PrioritizerResult       `json:"prioritizerResults"`
	Totals         map[string]int64                     `json:"totalScores"`
	Ranked         []string                             `json:"selectedByRank"`
	Unscheduled    int                                  `json:"unscheduled"`
	ScheduleStatus string                               `json:"scheduleStatus"`
	SyncError      string                               `json:"syncError"`
	RequeueAt      *time.Time                           `json:"requeueAt"`
	Panic          string                               `json:"panic,omitempty"`
	Unanswered     string                               `json:"unanswered,omitempty"`
}

// A client that can be exchanged: the controller is made once and keeps the one it was given.
type exchangeable struct{ clusterclient.Interface }

// What the scheduler answered the controller, kept for us.
type recording struct {
	scheduling.Scheduler
	result scheduling.ScheduleResult
	status *framework.Status
}

func (r *recording) Schedule(
	ctx context.Context, placement *clusterv1beta1.Placement, clusters []*clusterv1.ManagedCluster,
) (scheduling.ScheduleResult, *framework.Status) {
	r.result, r.status = r.Scheduler.Schedule(ctx, placement, clusters)
	return r.result, r.status
}

type world struct {
	client     *exchangeable
	handle     plugins.Handle
	scheduler  *recording
	controller factory.Controller
	clusters   cache.Indexer
	sets       cache.Indexer
	bindings   cache.Indexer
	placements cache.Indexer
	decisions  cache.Indexer
	scores     cache.Indexer
}

func newWorld() *world {
	ctx := context.Background()
	client := &exchangeable{fake.NewSimpleClientset()}
	informers := clusterinformers.NewSharedInformerFactory(client, 0).Cluster()
	clusters, placements := informers.V1().ManagedClusters(), informers.V1beta1().Placements()
	sets, bindings := informers.V1beta2().ManagedClusterSets(), informers.V1beta2().ManagedClusterSetBindings()
	decisions, scores := informers.V1beta1().PlacementDecisions(), informers.V1alpha1().AddOnPlacementScores()
	recorder := &events.FakeRecorder{}
	measured := metrics.NewScheduleMetrics(clock.RealClock{})
	handle := scheduling.NewSchedulerHandler(
		client, decisions.Lister(), scores.Lister(), clusters.Lister(), recorder, measured)
	scheduler := &recording{Scheduler: scheduling.NewPluginScheduler(handle)}
	return &world{
		client:    client,
		handle:    handle,
		scheduler: scheduler,
		controller: scheduling.NewSchedulingController(
			ctx, client, clusters, sets, bindings, placements, decisions, scores, scheduler, recorder, measured),
		clusters:   clusters.Informer().GetIndexer(),
		sets:       sets.Informer().GetIndexer(),
		bindings:   bindings.Informer().GetIndexer(),
		placements: placements.Informer().GetIndexer(),
		decisions:  decisions.Informer().GetIndexer(),
		scores:     scores.Informer().GetIndexer(),
	}
}

// look lets the controller look once at a placement.
func (w *world) look(asked *question) answer {
	at := clocktesting.NewFakeClock(asked.Now)
	tainttoleration.TolerationClock, addon.AddOnClock = at, at
	w.scheduler.result, w.scheduler.status = nil, nil

	kept := []runtime.Object{asked.Placement.DeepCopy()}
	for _, each := range asked.Decisions {
		kept = append(kept, each.DeepCopy())
	}
	w.client.Interface = fake.NewSimpleClientset(kept...)
	holds(w.clusters, asked.Clusters)
	holds(w.sets, asked.Sets)
	holds(w.bindings, asked.Bindings)
	holds(w.scores, asked.Scores)
	holds(w.decisions, asked.Decisions)
	holds(w.placements, []*clusterv1beta1.Placement{asked.Placement})

	ctx := context.Background()
	key := asked.Placement.Namespace + "/" + asked.Placement.Name
	var found answer
	if err := w.controller.Sync(ctx, w.controller.SyncContext(), key); err != nil {
		found.SyncError = err.Error()
	}
	w.written(ctx, asked, &found)
	w.said(&found)
	requeue, _ := tainttoleration.New(w.handle).RequeueAfter(ctx, asked.Placement)
	found.RequeueAt = requeue.RequeueTime
	return found
}

// written is what the controller left on the server.
func (w *world) written(ctx context.Context, asked *question, found *answer) {
	server := w.client.ClusterV1beta1()
	placement, err := server.Placements(asked.Placement.Namespace).Get(ctx, asked.Placement.Name, metav1.GetOptions{})
	if err != nil {
		found.Unanswered = err.Error()
		return
	}
	found.Selected, found.Groups = placement.Status.NumberOfSelectedClusters, placement.Status.DecisionGroups
	found.Conditions = map[string]condition{}
	for _, each := range placement.Status.Conditions {
		found.Conditions[each.Type] = condition{string(each.Status), each.Reason, each.Message}
	}
	pages, err := server.PlacementDecisions(asked.Placement.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: clusterv1beta1.PlacementLabel + "=" + asked.Placement.Name,
	})
	if err != nil {
		found.Unanswered = err.Error()
		return
	}
	for _, each := range pages.Items {
		names := []string{}
		for _, decision := range each.Status.Decisions {
			names = append(names, decision.ClusterName)
		}
		found.Decisions = append(found.Decisions, page{
			Name:       each.Name,
			GroupName:  each.Labels[clusterv1beta1.DecisionGroupNameLabel],
			GroupIndex: each.Labels[clusterv1beta1.DecisionGroupIndexLabel],
			Clusters:   names,
		})
	}
	sort.Slice(found.Decisions, func(i, j int) bool { return found.Decisions[i].Name < found.Decisions[j].Name })
}

// said is what the scheduler told the controller.
func (w *world) said(found *answer) {
	if w.scheduler.result == nil {
		return
	}
	result := w.scheduler.result
	found.Filters, found.Prioritizers = result.FilterResults(), result.PrioritizerResults()
	found.Totals, found.Unscheduled = result.PrioritizerScores(), result.NumOfUnscheduled()
	found.Ranked = []string{}
	for _, each := range result.Decisions() {
		found.Ranked = append(found.Ranked, each.Name)
	}
	if err := w.scheduler.status.AsError(); err != nil {
		found.ScheduleStatus = err.Error()
	}
}

func holds[T runtime.Object](indexer cache.Indexer, objects []T) {
	items := make([]interface{}, 0, len(objects))
	for _, each := range objects {
		if _, err := meta.Accessor(each); err == nil {
			items = append(items, each)
		}
	}
	_ = indexer.Replace(items, "")
}
