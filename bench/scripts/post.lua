-- A POST without a body for wrk, built once.
local text

function init(args)
  wrk.method = "POST"
  wrk.headers["Content-Length"] = "0"
  text = wrk.format()
end

function request()
  return text
end
