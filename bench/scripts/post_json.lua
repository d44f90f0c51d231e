-- The POST of the quick workloads for wrk, built once.
local text

function init(args)
  wrk.method = "POST"
  wrk.body = '{"id":123456,"name":"picture","tags":["a","b","c"]}'
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Accept"] = "application/json"
  text = wrk.format()
end

function request()
  return text
end
