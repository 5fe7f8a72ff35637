// Package placement makes the environment that OCM's placement controller gives to celSelector. The scores of a cluster
// stand under its key "@scores"; they become AddOnPlacementScores, which is where the controller finds them.
package placement

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/cel-go/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/client-go/tools/cache"
	"muster.dev/differential/cel/answering"
	listers "open-cluster-management.io/api/client/cluster/listers/cluster/v1alpha1"
	"open-cluster-management.io/api/cluster/v1alpha1"
	"open-cluster-management.io/sdk-go/pkg/cel/common"
	"open-cluster-management.io/sdk-go/pkg/cel/library"
)

const (
	clusterName = "managedCluster"
	scoresKey   = "@scores"
)

// scores makes objects of the scores in the clusters of the world. They stay in the clusters as well: our engine finds
// them there, and both sides have to see the same map.
func scores(world *answering.World) (listers.AddOnPlacementScoreLister, error) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, set := range world.Sets {
		cluster, ok := set[clusterName].(map[string]any)
		if !ok {
			continue
		}
		held, _ := cluster[scoresKey].(map[string]any)
		metadata, _ := cluster["metadata"].(map[string]any)
		namespace, _ := metadata["name"].(string)
		for name, items := range held {
			score := &v1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			for _, item := range items.([]any) {
				fields := item.(map[string]any)
				score.Status.Scores = append(score.Status.Scores, v1alpha1.AddOnPlacementScoreItem{
					Name: fields["name"].(string), Value: int32(fields["value"].(int64))})
			}
			if err := indexer.Add(score); err != nil {
				return nil, err
			}
		}
	}
	return listers.NewAddOnPlacementScoreLister(indexer), nil
}

// Environment is an answering.Maker.
func Environment(world *answering.World) (*answering.Environment, error) {
	lister, err := scores(world)
	if err != nil {
		return nil, err
	}
	options, err := world.Declarations(clusterName)
	if err != nil {
		return nil, err
	}
	options = append(options, library.ManagedClusterLib(lister), library.JsonLib())
	env, err := cel.NewEnv(append(options, common.BaseEnvOpts...)...)
	if err != nil {
		return nil, err
	}
	return &answering.Environment{Env: env, Options: []cel.ProgramOption{
		cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTracking(&common.BaseEnvCostEstimator{CostEstimator: &library.CostEstimator{}}),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency),
	}}, nil
}
