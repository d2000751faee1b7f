{{- /* The name of every object. Services take no dot, which names of releases may have. */ -}}
{{- define "modelway.name" -}}
{{- $name := default .Release.Name .Values.nameOverride | replace "." "-" | trunc 50 | trimSuffix "-" }}
{{- if not (regexMatch "^[a-z]" $name) }}
{{- fail (printf "%s is no name of a Service: write one that starts with a letter in nameOverride" $name) }}
{{- end }}
{{- $name }}
{{- end }}

{{- define "modelway.selector" -}}
app.kubernetes.io/name: modelway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "modelway.labels" -}}
{{ include "modelway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "modelway.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{- define "modelway.workload" -}}
{{- ternary "StatefulSet" "Deployment" .Values.journal.persistent }}
{{- end }}

{{- define "modelway.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "modelway.name" .) .Values.serviceAccount.name }}
{{- else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- /* A path as a key of a ConfigMap, which may have no slash. */ -}}
{{- define "modelway.key" -}}
{{- . | replace "/" "__" }}
{{- end }}

{{- /* The pods that count in one Redis, at most. */ -}}
{{- define "modelway.pods" -}}
{{- ternary .Values.autoscaling.max .Values.replicas .Values.autoscaling.enabled }}
{{- end }}

{{- /* What a pod decides, laid over gateway.yaml. */ -}}
{{- define "modelway.overlay" -}}
{{- $server := dict "listen" (printf "%s:8080" .Values.listenHost) "workers" (int .Values.workers) "watch" .Values.config.reload
      "drain" (dict "delay" (printf "%ds" (int .Values.drain.delay)) "grace" (printf "%ds" (int .Values.drain.grace))) }}
{{- $telemetry := dict "listen" (printf "%s:9464" .Values.listenHost) "allow_ips" (concat (list "127.0.0.0/8" "::1") .Values.metrics.allowIps) }}
{{- $overlay := dict "server" $server "telemetry" $telemetry }}
{{- $stores := dict }}
{{- with .Values.stores.records }}{{ $stores = merge $stores (dict "records" . "journal" "/var/lib/modelway/journal") }}{{ end }}
{{- with .Values.stores.counters }}{{ $stores = merge $stores (dict "counters" . "machines" (include "modelway.pods" $ | int)) }}{{ end }}
{{- if $stores }}{{ $overlay = merge $overlay (dict "stores" $stores) }}{{ end }}
{{- toYaml (merge (deepCopy .Values.config.overlay) $overlay) }}
{{- end }}

{{- /* Host and port of every upstream in config.gateway, as a list under `hosts`: by its url, or by
       that of its provider. One with an environment variable is left out: its value is unknown here. */ -}}
{{- define "modelway.upstreams" -}}
{{- $found := list }}
{{- $providers := .Files.Get "files/providers.yaml" | fromYaml }}
{{- range $name, $upstream := (fromYaml .Values.config.gateway).upstreams }}
{{- if kindIs "map" $upstream }}
{{- $url := default (index $providers (toString $upstream.provider)) $upstream.url | toString }}
{{- range $variable, $value := $upstream.variables }}
{{- $url = replace (printf "{%s}" $variable) (toString $value) $url }}
{{- end }}
{{- if regexMatch "^https?://[^${}]+$" $url }}
{{- $parts := urlParse $url }}
{{- $port := regexFind ":[0-9]+$" $parts.host | trimPrefix ":" | default (ternary "443" "80" (eq $parts.scheme "https")) }}
{{- $found = append $found (dict "host" (regexReplaceAll ":[0-9]+$" $parts.host "") "port" $port) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml (dict "hosts" (uniq $found)) }}
{{- end }}

{{- define "modelway.pod" -}}
metadata:
  labels:
    {{- include "modelway.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    kubectl.kubernetes.io/default-container: modelway
    {{- if not .Values.config.reload }}
    checksum/config: {{ list (include "modelway.overlay" .) .Values.config | toJson | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "modelway.serviceAccount" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .Values.drain.preStop .Values.drain.delay .Values.drain.grace 10 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  initContainers:
    - name: check
      {{- include "modelway.container" . | nindent 6 }}
      args: [check]
  containers:
    - name: modelway
      {{- include "modelway.container" . | nindent 6 }}
      args: [serve]
      ports:
        - {name: api, containerPort: 8080}
        - {name: telemetry, containerPort: 9464}
      startupProbe:
        httpGet: {path: /healthz, port: telemetry}
        periodSeconds: 1
        failureThreshold: 120
      readinessProbe:
        httpGet: {path: /readyz, port: telemetry}
        periodSeconds: 3
        timeoutSeconds: 2
        failureThreshold: 2
      livenessProbe:
        httpGet: {path: /healthz, port: telemetry}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      {{- if .Values.drain.preStop }}
      lifecycle:
        preStop:
          sleep: {seconds: {{ .Values.drain.preStop }}}
      {{- end }}
  volumes:
    - name: config
      projected:
        sources:
          - configMap:
              name: {{ include "modelway.name" . }}
              {{- if not .Values.config.existingConfigMap }}
              items:
                - {key: gateway.yaml, path: gateway.yaml}
                - {key: kubernetes.yaml, path: kubernetes.yaml}
                {{- range $path, $_ := .Values.config.files }}
                - {key: {{ include "modelway.key" $path }}, path: {{ $path }}}
                {{- end }}
              {{- end }}
          {{- with .Values.config.existingConfigMap }}
          - configMap:
              name: {{ . }}
          {{- end }}
          {{- range $file, $secret := .Values.secretFiles }}
          - secret:
              name: {{ $secret.name }}
              items: [{key: {{ $secret.key }}, path: secrets/{{ $file }}}]
          {{- end }}
    - name: tmp
      emptyDir: {}
    - name: shm
      emptyDir: {medium: Memory, sizeLimit: 128Mi}
    {{- if and .Values.stores.records (not .Values.journal.persistent) }}
    - name: journal
      emptyDir: {sizeLimit: {{ .Values.journal.size }}}
    {{- end }}
    {{- with .Values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- $spread := list }}
  {{- range $key, $topology := dict "hosts" "kubernetes.io/hostname" "zones" "topology.kubernetes.io/zone" }}
  {{- with index $.Values.topologySpread $key }}
  {{- $selector := dict "matchLabels" (include "modelway.selector" $ | fromYaml) }}
  {{- $spread = append $spread (dict "maxSkew" 1 "topologyKey" $topology "whenUnsatisfiable" . "labelSelector" $selector) }}
  {{- end }}
  {{- end }}
  {{- with $spread }}
  topologySpreadConstraints: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end }}

{{- /* What `check` and `serve` have in common: the same image, environment and files. */ -}}
{{- define "modelway.container" -}}
image: {{ include "modelway.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
env:
  - {name: MODELWAY_CONFIG, value: "/etc/modelway/gateway.yaml:/etc/modelway/kubernetes.yaml"}
  {{- range $name, $secret := .Values.secrets }}
  - name: {{ $name }}
    valueFrom: {secretKeyRef: {name: {{ $secret.name }}, key: {{ $secret.key }}}}
  {{- end }}
  {{- range $name, $value := .Values.env }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- with .Values.envFrom }}
envFrom: {{ toYaml . | nindent 2 }}
{{- end }}
resources: {{ toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - {name: config, mountPath: /etc/modelway, readOnly: true}
  - {name: tmp, mountPath: /tmp}
  - {name: shm, mountPath: /dev/shm}
  {{- if or .Values.stores.records .Values.journal.persistent }}
  - {name: journal, mountPath: /var/lib/modelway}
  {{- end }}
  {{- with .Values.extraVolumeMounts }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end }}
