// Argo CD's own generators, asked by a test: one ApplicationSetGenerator in a line, its parameters or its error back.
//
//	generator KUBECONFIG NAMESPACE MANIFEST... < questions
//
// Decisions are read from the server of the kubeconfig. ConfigMaps and Secrets, which are Argo CD's own, come from the
// manifests: they are those that users apply, and what the test adds.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/v3/applicationset/generators"
	argocd "github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	clientset "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

type question struct {
	GoTemplate bool                           `json:"goTemplate"`
	Generator  argocd.ApplicationSetGenerator `json:"generator"`
}

type answer struct {
	Parameters []map[string]any `json:"parameters"`
	Error      string           `json:"error"`
	Panic      string           `json:"panic"`
	After      float64          `json:"requeueAfterSeconds"`
}

func main() {
	logrus.SetLevel(logrus.ErrorLevel)
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace string, manifests []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// Over plain HTTP, as test hubs speak it, client-go leaves the token out unless it is told to send it.
	file, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return err
	}
	config.BearerToken = file.AuthInfos[file.Contexts[file.CurrentContext].AuthInfo].Token
	decisions, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := read(manifests)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	copies := make([]client.Object, 0, len(objects))
	for _, each := range objects {
		copies = append(copies, each.DeepCopyObject().(client.Object))
	}
	known := fake.NewClientBuilder().WithScheme(scheme).WithObjects(copies...).Build()
	context := context.Background()
	byDecisions := generators.NewDuckTypeGenerator(context, decisions, clientset.NewClientset(objects...), namespace)
	byPlugin := generators.NewPluginGenerator(known, namespace)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		chosen := byDecisions
		if asked.Generator.Plugin != nil {
			chosen = byPlugin
		}
		if err := json.NewEncoder(os.Stdout).Encode(told(chosen, asked, known)); err != nil {
			return err
		}
	}
	return lines.Err()
}

// told asks the generator. A panic would end Argo CD's controller: it is told as such.
func told(generator generators.Generator, asked question, known client.Client) (found answer) {
	defer func() {
		if thrown := recover(); thrown != nil {
			found = answer{Panic: fmt.Sprint(thrown)}
		}
	}()
	set := &argocd.ApplicationSet{}
	set.Name = "checkout"
	set.Spec.GoTemplate = asked.GoTemplate
	found.After = generator.GetRequeueAfter(&asked.Generator).Seconds()
	parameters, err := generator.GenerateParams(&asked.Generator, set, known)
	found.Parameters = parameters
	if err != nil {
		found.Error = err.Error()
	}
	return found
}

// read gives the ConfigMaps and Secrets of the files, with texts of Secrets as a server keeps them.
func read(files []string) ([]runtime.Object, error) {
	var found []runtime.Object
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		documents := yaml.NewYAMLOrJSONDecoder(file, 4096)
		for {
			var raw runtime.RawExtension
			if err := documents.Decode(&raw); err != nil {
				break // the end of the file
			}
			var kind struct {
				Kind string `json:"kind"`
			}
			if err := json.Unmarshal(raw.Raw, &kind); err != nil {
				return nil, err
			}
			switch kind.Kind {
			case "ConfigMap":
				each := &corev1.ConfigMap{}
				if err := json.Unmarshal(raw.Raw, each); err != nil {
					return nil, err
				}
				found = append(found, each)
			case "Secret":
				each := &corev1.Secret{}
				if err := json.Unmarshal(raw.Raw, each); err != nil {
					return nil, err
				}
				if each.Data == nil {
					each.Data = map[string][]byte{}
				}
				for key, text := range each.StringData {
					each.Data[key] = []byte(text)
				}
				each.StringData = nil
				found = append(found, each)
			}
		}
	}
	return found, nil
}
