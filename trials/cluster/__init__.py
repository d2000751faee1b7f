"""Give the Helm chart and the Kustomize base to a real API server, which stores what it accepts.

    MODELWAY_CRDS=FOLDER python -m trials.cluster            # about three minutes

Etcd, kube-apiserver and kube-controller-manager run on loopback, in a folder that is removed. There
is no node: pods are admitted, by Pod Security's level `restricted` too, and stay pending. It needs
kubectl and helm as well; a program that is missing is named. Without the definitions of
ServiceMonitor and CiliumNetworkPolicy (docs/internals/tests.md) these, the page and releases are
left out.
"""
