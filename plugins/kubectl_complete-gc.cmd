@echo off
rem Lets kubectl complete "kubectl gc".
kubectl-gc __complete %* 2>nul
