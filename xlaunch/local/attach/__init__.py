"""The node agent attached to a real control plane: `python -m xlaunch.local.attach --kubeconfig FILE`.

Its nodes register there, pods that the control plane binds to them run as processes of this machine, and the API server
reads their logs here. It puts together what lies in `node` and `remote`, as `server.py` does for the embedded cluster.
"""
