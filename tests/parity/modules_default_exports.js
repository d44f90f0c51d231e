// parity: console
// The default export of each module beside its names.
import k6 from "k6";
import crypto from "k6/crypto";
import data from "k6/data";
import encoding from "k6/encoding";
import execution from "k6/execution";
import csv from "k6/experimental/csv";
import fs from "k6/experimental/fs";
import streams from "k6/experimental/streams";
import html from "k6/html";
import metrics from "k6/metrics";
import grpc from "k6/net/grpc";
import timers from "k6/timers";
import websockets from "k6/websockets";
import ws from "k6/ws";
import x509 from "k6/crypto/x509";

export default function () {
  const all = { k6, crypto, data, encoding, execution, csv, fs, streams, html, metrics, grpc, timers, websockets, ws, x509 };
  for (const [name, module] of Object.entries(all)) {
    console.log(name, typeof module, module && Object.keys(module).sort().join());
  }
}
