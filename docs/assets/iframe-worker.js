/* Browsers refuse workers on file:// pages, and the search is one. There, its script runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentDocument;
      inside.open();
      inside.write(
        "<script>postMessage = parent.postMessage.bind(parent);" +
        "importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {" +
        "const script = document.createElement('script'); script.src = url; script.onload = done;" +
        "document.body.appendChild(script) })), Promise.resolve());</" + "script>" +
        `<script src="${url}"></` + "script>"
      );
      this.ready = new Promise((done) => frame.addEventListener("load", done));
      inside.close();
      this.frame = frame;
      window.addEventListener("message", (event) => {
        if (event.source === frame.contentWindow) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() { this.frame.remove(); }
  };
}
