// Creates a plant with a random id: ACCESS_TOKEN=… swift CreatePlant.swift http://127.0.0.1:3000 'Monstera deliciosa' body.json
// The file keeps the body until the plant is stored or refused. If it exists, its body is sent, and the name is ignored.
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct NewPlant: Codable {
    let id: Int64
    let name: String
}

struct Failure: Decodable {
    let error: Int
}

let maxAttempts = 6
let maxRetryAfter = 60.0 // seconds
/// Nothing was stored, and the same request can succeed later.
let notStored: Set = [4080, 5030, 5032]

/// A redirect can lead to a login page, whose status is 200.
final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)

func createPlant(at address: String, body: Data, mayBeSent: Bool) async throws -> String {
    var request = URLRequest(url: URL(string: address + "/plants")!)
    request.httpMethod = "POST"
    request.timeoutInterval = 20 // seconds: longer than the deadline of the service, which is 15 s
    request.httpBody = body
    let token = ProcessInfo.processInfo.environment["ACCESS_TOKEN"] ?? ""
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")

    var unknown = mayBeSent
    for attempt in 1...maxAttempts {
        var retryAfter = 0.0
        do {
            let (data, response) = try await session.data(for: request)
            let http = response as! HTTPURLResponse
            let status = http.statusCode
            // The error number. The status when the body has none, as in a response of a proxy.
            let code = (try? JSONDecoder().decode(Failure.self, from: data))?.error ?? status
            let seconds = Double(http.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 0
            retryAfter = Double.minimum(Double.maximum(seconds, 0), maxRetryAfter) // these two replace a NaN
            if status == 200 || (code == 4006 && unknown) { return "stored" }
            if status != 429 && !notStored.contains(code) {
                if status < 500 { return unknown ? "unknown" : "refused \(code)" }
                if code == 5000 { return "unknown" } // a bug, which a retry would meet again
                unknown = true
            }
        } catch is URLError { // no connection, a broken one, a time-out
            unknown = true
        }
        if attempt < maxAttempts {
            let seconds = retryAfter + Double.random(in: 0..<1) * 0.1 * pow(2, Double(attempt))
            try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
        }
    }
    return unknown ? "unknown" : "not stored"
}

func savedBody(in file: URL) -> (Data, NewPlant) {
    do {
        let body = try Data(contentsOf: file)
        return (body, try JSONDecoder().decode(NewPlant.self, from: body))
    } catch {
        let message = "\(file.path): expected a saved body (\(error)). To create another plant, remove the file.\n"
        FileHandle.standardError.write(Data(message.utf8))
        exit(1)
    }
}

let file = URL(fileURLWithPath: CommandLine.arguments[3])
let mayBeSent = FileManager.default.fileExists(atPath: file.path)
if !mayBeSent { // saved before it is sent
    let plant = NewPlant(id: Int64.random(in: .min ... .max), name: CommandLine.arguments[2])
    try JSONEncoder().encode(plant).write(to: file, options: .atomic)
}
let (body, plant) = savedBody(in: file)
let outcome = try await createPlant(at: CommandLine.arguments[1], body: body, mayBeSent: mayBeSent)
if outcome == "stored" || outcome.hasPrefix("refused") { try FileManager.default.removeItem(at: file) }
print(plant.id, outcome)
exit(outcome == "stored" ? 0 : 1)
